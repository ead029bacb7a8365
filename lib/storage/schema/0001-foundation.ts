import type { Migration } from './migrations.ts'

export const foundation: Migration = {
  name: '0001-foundation',
  statements: ({ key, serial, lean }, dialect) => [
    // `epoch`: identifies this event history of the database; a restored backup gets a new one.
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
    // At most one row: of several setup calls at once, one succeeds.
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

    // `clock`: the last instant used; instants are unique and increasing within a conversation.
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
    // The users who wrote or read in a thread. `live_count`: their messages that are not deleted. `read_at`: their read
    // marker, an instant; `read_count`: the messages of others, not deleted, up to it. `marked_in`: with a marker, the
    // conversation.
    `CREATE TABLE thread_members (
      root_id ${key} NOT NULL REFERENCES threads ON DELETE CASCADE,
      user_id ${key} NOT NULL,
      live_count INTEGER NOT NULL DEFAULT 0,
      read_at BIGINT NOT NULL DEFAULT 0, read_count INTEGER NOT NULL DEFAULT 0,
      marked_in ${key},
      PRIMARY KEY (root_id, user_id))${lean}`,
    // The read markers of a user, by activity of the threads. Users who only write have none, so a post costs the same.
    `CREATE INDEX marks_of_reader ON thread_members (user_id, marked_in, read_at) WHERE marked_in IS NOT NULL`,
    // `path`: byte order is depth-first order. `reply_count`: the number of the next reply, deleted ones included.
    // `posted_by`: the author, or the user who asked the assistant for it.
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
    // Covers the count of messages after a read marker.
    `CREATE INDEX messages_by_arrival ON messages (root_id, created_at, posted_by) WHERE deleted_at IS NULL`,
    `CREATE TABLE message_revisions (
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      replaced_at BIGINT NOT NULL,
      content TEXT NOT NULL,
      reason TEXT,
      PRIMARY KEY (message_id, replaced_at))`,
    // The message that a post with an Idempotency-Key created.
    `CREATE TABLE idempotency_keys (
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      name ${key} NOT NULL,
      request_hash TEXT NOT NULL,
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, name))${lean}`,
    `CREATE INDEX idempotency_keys_of_message ON idempotency_keys (message_id)`,

    // `uses` of at most `max_uses`. Only a digest of the token is stored.
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

    // The event type and the ids it refers to; texts are read from their own tables.
    `CREATE TABLE events (
      id ${serial},
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      seq BIGINT NOT NULL,
      type TEXT NOT NULL,
      message_id ${key}, user_id ${key}, detail TEXT,
      created_at BIGINT NOT NULL,
      UNIQUE (conversation_id, seq))`,
    // The order of the events of all conversations. SQLite commits one transaction after another, so `id` is that
    // order.
    ...(dialect === 'postgresql'
      ? [
          'ALTER TABLE events ADD COLUMN feed BIGINT UNIQUE',
          'CREATE INDEX events_without_feed ON events (id) WHERE feed IS NULL',
          'CREATE SEQUENCE event_feed OWNED BY events.feed',
        ]
      : []),
  ],
}
