import type { Dialect } from '../storage/database.ts'
import { MESSAGE_COUNT, RECOUNT, SEEN_COUNT } from '../storage/schema/0012-unread-totals.ts'
import { isErasedAuthor, type Micros } from '../storage/sql.ts'

/** A condition that holds in every consistent database, also after a crash of its processes. */
export interface Invariant {
  name: string
  /** The condition, as a sentence. */
  says: string
  /** Finds the ids of the violations; may use one `?` for each of `params`. */
  find: string
  params?: (string | number)[]
  /** Restores the condition, where only a count is wrong. */
  repair?: string
  /** A violation is not an error, but worth reporting. */
  note?: true
}

/** What an invariant depends on besides the data. */
export interface Circumstances {
  dialect: Dialect
  now: Micros
  max_sessions_per_user: number | false
}

const LIVE = 'SUM(CASE WHEN deleted_at IS NULL THEN 1 ELSE 0 END)'
const PEOPLE = "COUNT(DISTINCT CASE WHEN deleted_at IS NULL THEN coalesce(posted_by, '') END)"

/**
 * The number of messages a user wrote in a thread, and of messages of others that the user has read; `r` is the user's
 * row.
 */
const WRITTEN = `(SELECT count(*) FROM messages m
  WHERE m.root_id = r.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') = r.user_id)`
const READ = `(SELECT count(*) FROM messages m
  WHERE m.root_id = r.root_id AND m.deleted_at IS NULL AND coalesce(m.posted_by, '') <> r.user_id AND m.created_at <= r.read_at)`

const CHUNKS = `(SELECT coalesce(string_agg(c.content, '' ORDER BY c.idx), '') FROM message_chunks c WHERE c.message_id = m.id)`

/** The tables of rows that belong to a user, with the column that identifies each row. */
const OWNED = {
  sessions: 'id',
  api_keys: 'id',
  identities: 'subject',
  password_resets: 'user_id',
  email_verifications: 'user_id',
  known_devices: 'user_id',
}
const ORPHANS = Object.entries(OWNED).map(
  ([table, id]) => `SELECT ${id} AS id FROM ${table} o WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = o.user_id)`,
)

/** Every invariant, in the order of the checks. */
export function invariants({ dialect, now, max_sessions_per_user }: Circumstances): Invariant[] {
  const positionOf = dialect === 'sqlite' ? 'instr' : 'strpos'
  const chunkOf =
    dialect === 'sqlite' ? "json_extract(e.detail, '$.idx')" : "CAST(CAST(e.detail AS json) ->> 'idx' AS integer)"
  return [
    {
      name: 'events.contiguous',
      says: 'The event numbers of a conversation have no gaps and end at its last number.',
      find: `SELECT c.id FROM conversations c
               JOIN (SELECT conversation_id, count(*) AS total, min(seq) AS first, max(seq) AS last
                       FROM events GROUP BY conversation_id) e ON e.conversation_id = c.id
              WHERE e.last <> c.last_seq OR e.last - e.first + 1 <> e.total`,
    },
    {
      name: 'events.refer',
      says: 'An event refers to an existing message of the same conversation.',
      find: `SELECT e.id FROM events e LEFT JOIN messages m ON m.id = e.message_id AND m.conversation_id = e.conversation_id
              WHERE e.message_id IS NOT NULL AND m.id IS NULL`,
    },
    {
      // The chunks of a message whose author was erased may be erased, too.
      name: 'events.chunks',
      says: 'The event of a chunk refers to an existing chunk.',
      find: `SELECT e.id FROM events e JOIN messages m ON m.id = e.message_id
              WHERE e.type = 'message.delta' AND m.posted_by IS NOT NULL AND NOT ${isErasedAuthor('m.posted_by')}
                AND NOT EXISTS (SELECT 1 FROM message_chunks c WHERE c.message_id = e.message_id AND c.idx = ${chunkOf})`,
    },
    {
      name: 'messages.announced',
      says: 'A message has one `message.new` event, unless it was deleted with old events.',
      find: `SELECT m.id FROM messages m
               LEFT JOIN (SELECT message_id, count(*) AS total FROM events WHERE type = 'message.new' GROUP BY message_id) e
                 ON e.message_id = m.id
              WHERE e.total > 1 OR (e.total IS NULL AND m.created_at >=
                    (SELECT min(x.created_at) FROM events x WHERE x.conversation_id = m.conversation_id))`,
    },
    {
      name: 'messages.placed',
      says: 'A reply is in the thread of its parent, one level deeper, with a path one segment longer.',
      find: `SELECT m.id FROM messages m LEFT JOIN messages p ON p.id = m.parent_id
              WHERE m.parent_id IS NOT NULL
                AND (p.id IS NULL OR p.root_id <> m.root_id OR p.conversation_id <> m.conversation_id
                     OR m.depth <> p.depth + 1 OR substr(m.path, 1, length(p.path)) <> p.path
                     OR length(m.path) - length(p.path) - 1 <>
                        ${positionOf}('123456789abcdefghijklmnopqrstuvwxyz', substr(m.path, length(p.path) + 1, 1)))`,
    },
    {
      name: 'messages.rooted',
      says: 'The root of a thread is its first message, in the conversation of the thread.',
      find: `SELECT m.id FROM messages m LEFT JOIN threads t ON t.root_id = m.root_id
              WHERE t.root_id IS NULL OR t.conversation_id <> m.conversation_id
                 OR (m.parent_id IS NULL AND (m.id <> m.root_id OR m.depth <> 0))`,
    },
    {
      name: 'messages.deleted',
      says: 'A message that is not deleted has no `deleted_by` and no `delete_reason`.',
      find: `SELECT id FROM messages
              WHERE deleted_at IS NULL AND (deleted_by IS NOT NULL OR delete_reason IS NOT NULL)`,
    },
    {
      name: 'messages.reply_count',
      says: 'The reply count of a message is the number of its replies.',
      find: `SELECT p.id FROM messages p
              WHERE p.reply_count <> (SELECT count(*) FROM messages m WHERE m.root_id = p.root_id AND m.parent_id = p.id)`,
    },
    {
      name: 'threads.rooted',
      says: 'Every thread has a root.',
      find: `SELECT t.root_id AS id FROM threads t LEFT JOIN messages m ON m.id = t.root_id AND m.root_id = t.root_id
              WHERE m.id IS NULL`,
    },
    {
      name: 'threads.counts',
      says: 'A thread has the correct counts of messages and authors, and the time of the latest message.',
      find: `SELECT t.root_id AS id FROM threads t
               JOIN (SELECT root_id, ${LIVE} AS live, ${PEOPLE} AS people, max(created_at) AS latest
                       FROM messages GROUP BY root_id) m ON m.root_id = t.root_id
              WHERE t.message_count <> m.live OR t.participant_count <> m.people OR t.last_activity_at <> m.latest`,
      repair: `UPDATE threads SET
                 message_count = (SELECT ${LIVE} FROM messages m WHERE m.root_id = threads.root_id),
                 participant_count = (SELECT ${PEOPLE} FROM messages m WHERE m.root_id = threads.root_id),
                 last_activity_at = (SELECT max(created_at) FROM messages m WHERE m.root_id = threads.root_id)
               WHERE EXISTS (SELECT 1 FROM messages m WHERE m.root_id = threads.root_id)`,
    },
    {
      name: 'unread.written',
      says: 'The number of messages a user wrote in a thread is correct.',
      find: `SELECT r.root_id AS id FROM thread_members r WHERE r.live_count <> ${WRITTEN}`,
      repair: `UPDATE thread_members AS r SET live_count = ${WRITTEN}`,
    },
    {
      name: 'unread.read',
      says: 'The number of messages a user has read in a thread is correct.',
      find: `SELECT r.root_id AS id FROM thread_members r WHERE r.read_at > 0 AND r.read_count <> ${READ}`,
      repair: `UPDATE thread_members AS r SET read_count = ${READ} WHERE r.read_at > 0`,
    },
    {
      name: 'unread.members',
      says: 'Every author of a thread has a row in `thread_members`.',
      find: `SELECT m.id FROM messages m
               LEFT JOIN thread_members r ON r.root_id = m.root_id AND r.user_id = coalesce(m.posted_by, '')
              WHERE m.deleted_at IS NULL AND r.root_id IS NULL`,
    },
    {
      name: 'unread.marks',
      says: 'A row with a read marker has the conversation of its thread; a row without one has none.',
      find: `SELECT r.root_id AS id FROM thread_members r JOIN threads t ON t.root_id = r.root_id
              WHERE (r.read_at > 0 AND coalesce(r.marked_in, '') <> t.conversation_id)
                 OR (r.read_at = 0 AND r.marked_in IS NOT NULL)`,
    },
    {
      name: 'conversations.messages',
      says: 'A conversation has the correct count of messages.',
      find: `SELECT conversations.id FROM conversations WHERE deleted_at IS NULL AND message_count <> ${MESSAGE_COUNT}`,
      repair: RECOUNT[0],
    },
    {
      name: 'unread.seen',
      says: 'The number of messages that a participant has seen in a conversation is correct.',
      find: `SELECT p.conversation_id AS id FROM participants p JOIN conversations c ON c.id = p.conversation_id
              WHERE c.deleted_at IS NULL AND p.seen_count <> ${SEEN_COUNT}`,
      repair: RECOUNT[1],
    },
    {
      name: 'chunks.contiguous',
      says: 'The chunks of an answer are numbered from 0 without a gap.',
      find: `SELECT message_id AS id FROM message_chunks GROUP BY message_id
              HAVING min(idx) <> 0 OR max(idx) <> count(*) - 1`,
    },
    {
      name: 'answers.content',
      says: 'The content of an answer that was not edited is the concatenation of its chunks.',
      find: `SELECT m.id FROM messages m
              WHERE m.role = 'assistant' AND m.status <> 'streaming' AND m.edited_at IS NULL AND m.content <> ${CHUNKS}`,
    },
    {
      name: 'answers.under_way',
      says: 'Every streaming answer has a writer, and no other answer has one.',
      find: `SELECT m.id FROM messages m LEFT JOIN answers_under_way a ON a.message_id = m.id
              WHERE (m.status = 'streaming' AND a.message_id IS NULL) OR (m.status <> 'streaming' AND a.message_id IS NOT NULL)`,
    },
    {
      name: 'answers.chunks',
      says: 'A streaming answer has the correct chunk count and conversation in the row of its writer.',
      find: `SELECT a.message_id AS id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
              WHERE a.conversation_id <> m.conversation_id
                 OR a.chunk_count <> (SELECT count(*) FROM message_chunks c WHERE c.message_id = a.message_id)`,
    },
    {
      name: 'conversations.clock',
      says: 'The clock of a conversation is not behind its messages and events.',
      find: `SELECT c.id FROM conversations c
              WHERE c.clock < (SELECT max(t.last_activity_at) FROM threads t WHERE t.conversation_id = c.id)`,
    },
    {
      name: 'conversations.direct',
      says: 'A direct conversation has at most two participants.',
      find: `SELECT c.id FROM conversations c
              WHERE c.is_group = 0 AND (SELECT count(*) FROM participants p WHERE p.conversation_id = c.id) > 2`,
    },
    {
      name: 'conversations.owned',
      says: 'Every conversation has an owner.',
      find: `SELECT c.id FROM conversations c
              WHERE NOT EXISTS (SELECT 1 FROM participants p WHERE p.conversation_id = c.id AND p.role = 'owner')`,
    },
    {
      name: 'invites.signups',
      says: 'An invite has not created more accounts than its uses.',
      find: 'SELECT id FROM invites WHERE signups > uses',
    },
    {
      name: 'invites.uses',
      says: 'An invite has not been used more often than allowed.',
      find: 'SELECT id FROM invites WHERE uses > max_uses',
    },
    {
      name: 'idempotency.posted',
      says: 'An Idempotency-Key refers to a message of the user of the key.',
      find: `SELECT k.name AS id FROM idempotency_keys k JOIN messages m ON m.id = k.message_id WHERE m.posted_by <> k.user_id`,
    },
    {
      name: 'limits.refer',
      says: 'A limit assignment refers to an existing profile.',
      find: `SELECT a.id FROM limit_assignments a LEFT JOIN limit_profiles p ON p.id = a.profile_id WHERE p.id IS NULL`,
    },
    {
      name: 'users.own',
      says: 'Sessions, keys, identities, resets and known browsers belong to an existing user.',
      find: ORPHANS.join(' UNION ALL '),
    },
    {
      name: 'users.disabled',
      says: 'A disabled user has no session.',
      find: 'SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.disabled_at IS NOT NULL',
    },
    {
      name: 'sessions.rotated',
      says: 'A replaced token belongs to an existing session and is not its current token.',
      find: `SELECT r.session_id AS id FROM rotated_tokens r LEFT JOIN sessions s ON s.id = r.session_id
              WHERE s.id IS NULL OR s.token_hash = r.token_hash`,
    },
    {
      // The next sign-in ends the extra sessions: a lowered limit is not an error of the database.
      name: 'sessions.cap',
      note: true,
      says: 'No user has more live sessions than allowed.',
      find: `SELECT user_id AS id FROM sessions WHERE idle_expires_at >= ? AND absolute_expires_at >= ?
              GROUP BY user_id HAVING count(*) > ?`,
      params: [now, now, max_sessions_per_user || Number.MAX_SAFE_INTEGER],
    },
  ]
}
