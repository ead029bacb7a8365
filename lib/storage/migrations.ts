import type { Dialect } from './database.ts'

/** One step of the schema. Once released it never changes: its checksum is kept with the data. */
export interface Migration {
  name: string
  statements: (types: ColumnTypes, dialect: Dialect) => string[]
}

interface ColumnTypes {
  /** Text compared byte by byte, for keys and for what is ordered by. */
  key: string
  /** A number the database hands out, rising. */
  serial: string
  /** Of a table of short rows: kept in the order of its primary key, with no other one beside it. */
  lean: string
  /** A number with a fraction. */
  real: string
}

/** What a column is called on each database. */
export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { key: 'TEXT', serial: 'INTEGER PRIMARY KEY AUTOINCREMENT', lean: ' WITHOUT ROWID', real: 'REAL' },
  postgresql: {
    key: 'TEXT COLLATE "C"',
    serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    lean: '',
    real: 'DOUBLE PRECISION',
  },
}

const foundation: Migration = {
  name: '0001-foundation',
  statements: ({ key, serial, lean }, dialect) => [
    // `epoch`: names this history of the database; a restored backup gets another one.
    `CREATE TABLE meta (name ${key} PRIMARY KEY, value TEXT NOT NULL)${lean}`,

    `CREATE TABLE users (
      id ${key} PRIMARY KEY,
      email TEXT NOT NULL, email_key ${key} NOT NULL UNIQUE,
      username TEXT NOT NULL, username_key ${key} NOT NULL UNIQUE,
      display_name TEXT,
      roles TEXT NOT NULL,
      password_hash TEXT,
      disabled_at BIGINT,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
    // At most one row: of several setup calls at once, one gets it.
    `CREATE TABLE setup (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      done_at BIGINT NOT NULL)`,

    `CREATE TABLE sessions (
      id ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      token_hash ${key} NOT NULL UNIQUE, csrf_hash ${key} NOT NULL,
      issued_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL,
      idle_expires_at BIGINT NOT NULL, absolute_expires_at BIGINT NOT NULL,
      user_agent TEXT, ip TEXT)`,
    `CREATE INDEX sessions_of_user ON sessions (user_id, issued_at)`,

    // `clock`: the last instant given out; instants are unique and rising within a conversation.
    `CREATE TABLE conversations (
      id ${key} PRIMARY KEY,
      title TEXT NOT NULL,
      is_group INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      clock BIGINT NOT NULL,
      last_seq BIGINT NOT NULL DEFAULT 0)`,
    `CREATE TABLE participants (
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      role TEXT NOT NULL,
      joined_at BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, user_id))${lean}`,
    `CREATE INDEX participations_of_user ON participants (user_id)`,

    `CREATE TABLE threads (
      root_id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      created_at BIGINT NOT NULL, last_activity_at BIGINT NOT NULL,
      message_count INTEGER NOT NULL, participant_count INTEGER NOT NULL,
      UNIQUE (conversation_id, last_activity_at))${lean}`,
    // Who wrote or read in a thread. `live_count`: their messages that are not deleted. `read_at`: their mark, an instant;
    // `read_count`: the messages of others, not deleted, that arrived up to it. `marked_in`: with a mark, the conversation.
    `CREATE TABLE thread_members (
      root_id ${key} NOT NULL REFERENCES threads ON DELETE CASCADE,
      user_id ${key} NOT NULL,
      live_count INTEGER NOT NULL DEFAULT 0,
      read_at BIGINT NOT NULL DEFAULT 0, read_count INTEGER NOT NULL DEFAULT 0,
      marked_in ${key},
      PRIMARY KEY (root_id, user_id))${lean}`,
    // A reader's marks in the order of threads' activity. Those who only write are not in it, so a post costs the same.
    `CREATE INDEX marks_of_reader ON thread_members (user_id, marked_in, read_at) WHERE marked_in IS NOT NULL`,
    // `path`: byte order is depth-first order. `reply_count`: the number of the next reply, deleted ones included.
    // `posted_by`: the author, or who asked for it.
    `CREATE TABLE messages (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL,
      root_id ${key} NOT NULL REFERENCES threads ON DELETE CASCADE,
      parent_id ${key},
      posted_by ${key},
      role TEXT NOT NULL,
      content TEXT NOT NULL,
      path ${key} NOT NULL, depth INTEGER NOT NULL,
      reply_count INTEGER NOT NULL DEFAULT 0,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL, edited_at BIGINT, deleted_at BIGINT, deleted_by ${key},
      UNIQUE (root_id, path))`,
    // Covers the count of what is unread after a mark.
    `CREATE INDEX messages_by_arrival ON messages (root_id, created_at, posted_by) WHERE deleted_at IS NULL`,
    `CREATE TABLE message_revisions (
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      replaced_at BIGINT NOT NULL,
      content TEXT NOT NULL,
      reason TEXT,
      PRIMARY KEY (message_id, replaced_at))`,
    // What a post with an Idempotency-Key has made.
    `CREATE TABLE idempotency_keys (
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      name ${key} NOT NULL,
      request_hash TEXT NOT NULL,
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, name))${lean}`,
    `CREATE INDEX idempotency_keys_of_message ON idempotency_keys (message_id)`,

    // `uses` of at most `max_uses`. Of the token only a digest is kept.
    `CREATE TABLE invites (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      token_hash ${key} NOT NULL UNIQUE,
      created_by ${key},
      email TEXT, email_key ${key},
      role TEXT NOT NULL,
      uses INTEGER NOT NULL DEFAULT 0, max_uses INTEGER NOT NULL,
      created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT,
      CHECK (uses <= max_uses))`,
    `CREATE INDEX invites_of_conversation ON invites (conversation_id, created_at)`,

    // Names what happened and to whom; the text is read from where it lives.
    `CREATE TABLE events (
      id ${serial},
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      seq BIGINT NOT NULL,
      type TEXT NOT NULL,
      message_id ${key}, user_id ${key}, detail TEXT,
      created_at BIGINT NOT NULL,
      UNIQUE (conversation_id, seq))`,
    // The order of all conversations' events together. SQLite commits one after another, so there `id` is it.
    ...(dialect === 'postgresql'
      ? [
          'ALTER TABLE events ADD COLUMN feed BIGINT UNIQUE',
          'CREATE INDEX events_without_feed ON events (id) WHERE feed IS NULL',
          'CREATE SEQUENCE event_feed OWNED BY events.feed',
        ]
      : []),
  ],
}

const assistant: Migration = {
  name: '0002-assistant',
  statements: ({ key, lean }) => [
    // Of an answer: what was asked, why it ended, and as JSON how many tokens it took. While it is being written its
    // `content` is in the chunks alone.
    'ALTER TABLE messages ADD COLUMN prompt TEXT',
    'ALTER TABLE messages ADD COLUMN finish_reason TEXT',
    'ALTER TABLE messages ADD COLUMN usage TEXT',
    `CREATE TABLE message_chunks (
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      idx INTEGER NOT NULL,
      content TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (message_id, idx))${lean}`,
    // Answers being written. `writer`: the process that does; when its lease lapses it is taken for dead.
    `CREATE TABLE answers_under_way (
      message_id ${key} PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
      conversation_id ${key} NOT NULL,
      writer ${key} NOT NULL,
      lease_expires_at BIGINT NOT NULL,
      chunk_count INTEGER NOT NULL DEFAULT 0)${lean}`,
    'CREATE INDEX answers_by_lease ON answers_under_way (lease_expires_at)',
    'CREATE INDEX answers_of_writer ON answers_under_way (writer)',
  ],
}

const access: Migration = {
  name: '0003-access',
  statements: ({ key, lean, real }) => [
    // Who somebody is elsewhere. The issuer is part of it: the same name may come to stand for another provider.
    `CREATE TABLE identities (
      provider ${key} NOT NULL, issuer ${key} NOT NULL, subject ${key} NOT NULL,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (provider, issuer, subject))${lean}`,
    'CREATE INDEX identities_of_user ON identities (user_id)',
    // Sign-ins elsewhere that have begun. `binding_hash`: of a cookie of the browser that began it.
    `CREATE TABLE oauth_states (
      state_hash ${key} PRIMARY KEY,
      provider ${key} NOT NULL, binding_hash ${key} NOT NULL,
      verifier TEXT NOT NULL, nonce TEXT NOT NULL,
      redirect_to TEXT,
      link_user_id ${key} REFERENCES users ON DELETE CASCADE,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX oauth_states_by_expiry ON oauth_states (expires_at)',

    `CREATE TABLE api_keys (
      id ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      name TEXT NOT NULL,
      key_hash ${key} NOT NULL UNIQUE,
      created_at BIGINT NOT NULL, expires_at BIGINT, last_used_at BIGINT)`,
    'CREATE INDEX api_keys_of_user ON api_keys (user_id)',
    `CREATE TABLE password_resets (
      token_hash ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX password_resets_of_user ON password_resets (user_id)',

    `CREATE TABLE limit_profiles (
      id ${key} PRIMARY KEY,
      name TEXT NOT NULL, name_key ${key} NOT NULL UNIQUE,
      requests_per_second ${real} NOT NULL, burst INTEGER NOT NULL,
      description TEXT,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
    `CREATE TABLE limit_assignments (
      id ${key} PRIMARY KEY,
      profile_id ${key} NOT NULL REFERENCES limit_profiles,
      method ${key} NOT NULL, path_pattern ${key} NOT NULL,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
      UNIQUE (method, path_pattern))`,
    'CREATE INDEX limit_assignments_of_profile ON limit_assignments (profile_id)',
    // `tat`: the theoretical arrival time of GCRA; a bucket whose time has passed says nothing any more.
    `CREATE TABLE limit_buckets (bucket ${key} PRIMARY KEY, tat BIGINT NOT NULL)${lean}`,
    'CREATE INDEX limit_buckets_by_tat ON limit_buckets (tat)',
    // Failed sign-ins by account, whether there is such an account or not. `account`: a digest of the address.
    `CREATE TABLE login_failures (
      account ${key} PRIMARY KEY,
      failures INTEGER NOT NULL,
      first_at BIGINT NOT NULL, blocked_until BIGINT NOT NULL)${lean}`,
    'CREATE INDEX login_failures_by_age ON login_failures (first_at)',
    // Browsers in which somebody has signed in before: guessing elsewhere does not lock them out.
    `CREATE TABLE known_devices (
      token_hash ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX known_devices_of_user ON known_devices (user_id)',

    // Who did what to whom, when, from where. Outlives those it is about.
    `CREATE TABLE audit_log (
      id ${key} PRIMARY KEY,
      at BIGINT NOT NULL,
      act ${key} NOT NULL,
      actor_id ${key}, subject_id ${key},
      ip TEXT, detail TEXT)`,
  ],
}

const retention: Migration = {
  name: '0004-retention',
  statements: () => [
    // What has expired is looked for every minute, in a transaction that others wait for.
    'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
    'CREATE INDEX sessions_by_expiry ON sessions (absolute_expires_at)',
    'CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL',
    'CREATE INDEX password_resets_by_expiry ON password_resets (expires_at)',
    'CREATE INDEX known_devices_by_expiry ON known_devices (expires_at)',
  ],
}

const invites: Migration = {
  name: '0005-invites',
  statements: () => ['CREATE INDEX invites_by_expiry ON invites (expires_at)'],
}

/** Every step of the schema, oldest first. Append only. */
export const MIGRATIONS: readonly Migration[] = [foundation, assistant, access, retention, invites]
