import type { Dialect, Queries } from '../../storage/database.ts'
import { FILL_FORMER, FIND_FORMER } from '../../storage/schema/0052-names.ts'
import { isErasedAuthor, join, type Micros, name, sql } from '../../storage/sql.ts'
import { FOREIGN_VARIANT } from '../../storage/variants.ts'
import { COUNTS } from './counts.ts'
import { type Invariant, messagesWhere } from './invariant.ts'
import { ATTACHMENTS } from './invariants-attachments.ts'
import { CALLS } from './invariants-calls.ts'
import { conversationInvariants } from './invariants-conversations.ts'
import { GRANTS } from './invariants-grants.ts'
import { MERGED } from './invariants-merging.ts'
import { notificationInvariants } from './invariants-notifications.ts'
import { reactionInvariants } from './invariants-reactions.ts'
import { searchInvariants } from './invariants-search.ts'
import { usageInvariants } from './invariants-usage.ts'
import { valueInvariants } from './invariants-values.ts'
import { webhookInvariants } from './invariants-webhooks.ts'

const HARMLESS = 'Harmless: nothing reads these rows, or they expire.'

/** What an invariant depends on besides the data. */
export interface Circumstances {
  dialect: Dialect
  now: Micros
  max_sessions_per_user: number | false
  /** The partitions of the search index of SQLite. */
  partitions: readonly number[]
  /** The roles in conversations with a right that a member does not have. */
  roles_beyond_member: readonly string[]
}

/** The time of the oldest event in the conversation of a message `m`: older ones are deleted. */
const JOIN_LOG = sql`JOIN (SELECT conversation_id, min(created_at) AS since FROM events GROUP BY conversation_id) l
  ON l.conversation_id = m.conversation_id`

const CHUNKS = sql`(SELECT coalesce(string_agg(c.content, '' ORDER BY c.idx), '') FROM message_chunks c WHERE c.message_id = m.id)`

const FOREIGN_QUOTE = sql`m.quote_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages q
  WHERE q.id = m.quote_id AND q.conversation_id = m.conversation_id)`

/** A message that was erased with its author. One that lost only its author, and was deleted, still has its text or files. */
const ERASED = sql`m.posted_by IS NULL AND m.deleted_at IS NOT NULL AND m.content = '' AND m.prompt IS NULL
  AND m.context IS NULL AND m.metadata IS NULL AND m.attachment_list IS NULL`

/** The title of the thread of a root `m`. */
const TITLED = sql`SELECT 1 FROM threads t WHERE t.root_id = m.id AND t.title IS NOT NULL`

/** Removes what is left of erased messages. */
async function eraseRest(tx: Queries): Promise<void> {
  await tx.run(
    sql`UPDATE threads SET title = NULL
      WHERE title IS NOT NULL AND EXISTS (SELECT 1 FROM messages m WHERE m.id = threads.root_id AND ${ERASED})`,
  )
  await tx.run(
    sql`UPDATE messages AS m SET quote_id = NULL, mention_origins = NULL, parts = NULL
      WHERE (m.quote_id IS NOT NULL OR m.mention_origins IS NOT NULL OR m.parts IS NOT NULL) AND ${ERASED}`,
  )
}

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
  ([table, id]) =>
    sql`SELECT ${name(id)} AS id FROM ${name(table)} o WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = o.user_id)`,
)

/** Every invariant, in the order of the checks. */
export function invariants(circumstances: Circumstances): Invariant[] {
  const { dialect, now, max_sessions_per_user, partitions, roles_beyond_member } = circumstances
  const positionOf = dialect === 'sqlite' ? sql`instr` : sql`strpos`
  // PostgreSQL sorts a million ids in half of the time in which it groups them; SQLite does not.
  const someTwice =
    dialect === 'sqlite'
      ? sql``
      : sql`AND (SELECT count(message_id) <> count(DISTINCT message_id) FROM events WHERE type = 'message.new')`
  const chunkOf =
    dialect === 'sqlite' ? sql`json_extract(e.detail, '$.idx')` : sql`CAST(CAST(e.detail AS json) ->> 'idx' AS integer)`
  return [
    {
      name: 'events.contiguous',
      says: 'The event numbers of a conversation have no gaps and end at its last number.',
      remedy:
        'Streams that resume there may stop: move the data into a new database with "chat-server export" and "import", or restore a backup.',
      find: sql`SELECT c.id FROM conversations c
               JOIN (SELECT conversation_id, count(*) AS total, min(seq) AS first, max(seq) AS last
                       FROM events WHERE seq > 0 GROUP BY conversation_id) e ON e.conversation_id = c.id
              WHERE e.last <> c.last_seq OR e.last - e.first + 1 <> e.total`,
    },
    {
      name: 'events.refer',
      says: 'An event refers to an existing message of the same conversation.',
      find: sql`SELECT e.id FROM events e LEFT JOIN messages m ON m.id = e.message_id AND m.conversation_id = e.conversation_id
              WHERE e.message_id IS NOT NULL AND m.id IS NULL`,
    },
    {
      // The chunks of a message whose author was erased may be erased, too.
      name: 'events.chunks',
      says: 'The event of a chunk refers to an existing chunk.',
      find: sql`SELECT e.id FROM events e JOIN messages m ON m.id = e.message_id
              WHERE e.type IN ('message.delta', 'message.part') AND m.posted_by IS NOT NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)}
                AND NOT EXISTS (SELECT 1 FROM message_chunks c WHERE c.message_id = e.message_id AND c.idx = ${chunkOf})`,
    },
    {
      name: 'messages.announced',
      apart: true,
      says: 'A message has one `message.new` event, unless it was deleted with old events.',
      // A message without its event is searched for only if the numbers of both differ: counting takes half as long.
      find: sql`SELECT message_id AS id FROM events
              WHERE type = 'message.new' ${someTwice} GROUP BY message_id HAVING count(*) > 1
             UNION ALL
             SELECT m.id FROM messages m ${JOIN_LOG}
              WHERE m.created_at >= l.since
                AND (SELECT count(*) FROM events WHERE type = 'message.new')
                    <> (SELECT count(*) FROM messages m ${JOIN_LOG} WHERE m.created_at >= l.since)
                AND m.id NOT IN (SELECT message_id FROM events WHERE type = 'message.new' AND message_id IS NOT NULL)`,
    },
    {
      name: 'messages.placed',
      says: 'A reply is in the thread of its parent, one level deeper, with a path one segment longer.',
      find: sql`SELECT m.id FROM messages m LEFT JOIN messages p ON p.id = m.parent_id
              WHERE m.parent_id IS NOT NULL
                AND (p.id IS NULL OR p.root_id <> m.root_id OR p.conversation_id <> m.conversation_id
                     OR m.depth <> p.depth + 1 OR substr(m.path, 1, length(p.path)) <> p.path
                     OR length(m.path) - length(p.path) - 1 <>
                        ${positionOf}('123456789abcdefghijklmnopqrstuvwxyz', substr(m.path, length(p.path) + 1, 1)))`,
    },
    {
      name: 'messages.rooted',
      says: 'The root of a thread is its first message, in the conversation of the thread.',
      ...messagesWhere(
        sql`NOT EXISTS (SELECT 1 FROM threads t WHERE t.root_id = m.root_id AND t.conversation_id = m.conversation_id)
          OR (m.parent_id IS NULL AND (m.id <> m.root_id OR m.depth <> 0))`,
      ),
    },
    {
      name: 'quotes-in-conversation',
      says: 'A message quotes a message of its conversation.',
      ...messagesWhere(FOREIGN_QUOTE),
      repair: sql`UPDATE messages AS m SET quote_id = NULL WHERE ${FOREIGN_QUOTE}`,
    },
    {
      name: 'variants-share-a-parent',
      says: 'An answer that is a variant has the conversation and the parent of the first answer of its set.',
      ...messagesWhere(FOREIGN_VARIANT),
      repair: sql`UPDATE messages AS m SET variant_of = NULL WHERE ${FOREIGN_VARIANT}`,
    },
    {
      // A process of 0.3 does not know these columns: an erasure that it runs beside this version leaves them.
      name: 'messages.erased',
      says: 'A message that was erased with its author has no quote, no parts, no origins of mentions and no title.',
      ...messagesWhere(
        sql`${ERASED} AND (m.quote_id IS NOT NULL OR m.parts IS NOT NULL OR m.mention_origins IS NOT NULL OR EXISTS (${TITLED}))`,
      ),
      repair: eraseRest,
    },
    {
      name: 'messages.deleted',
      says: 'A message that is not deleted has no `deleted_by` and no `delete_reason`.',
      remedy: HARMLESS,
      ...messagesWhere(sql`m.deleted_at IS NULL AND (m.deleted_by IS NOT NULL OR m.delete_reason IS NOT NULL)`),
    },
    {
      name: 'threads.rooted',
      says: 'Every thread has a root.',
      find: sql`SELECT t.root_id AS id FROM threads t LEFT JOIN messages m ON m.id = t.root_id AND m.root_id = t.root_id
              WHERE m.id IS NULL`,
    },
    ...COUNTS,
    {
      name: 'chunks.contiguous',
      says: 'The chunks of an answer are numbered from 0 without a gap.',
      find: sql`SELECT message_id AS id FROM message_chunks GROUP BY message_id
              HAVING min(idx) <> 0 OR max(idx) <> count(*) - 1`,
    },
    {
      name: 'answers.content',
      says: 'The content of an answer that was not edited is the concatenation of its chunks.',
      ...messagesWhere(
        sql`m.role = 'assistant' AND m.status NOT IN ('streaming', 'waiting') AND m.edited_at IS NULL AND m.content <> ${CHUNKS}`,
      ),
    },
    {
      name: 'answers.under_way',
      says: 'Every streaming answer has a writer, and no other answer has one.',
      remedy:
        'Restart the service: it ends answers without a writer. If the finding stays, cancel or delete the message.',
      ...messagesWhere(
        sql`(m.status = 'streaming') <> EXISTS (SELECT 1 FROM answers_under_way a WHERE a.message_id = m.id)`,
      ),
    },
    {
      name: 'answers.chunks',
      says: 'A streaming answer has the correct chunk count and conversation in the row of its writer.',
      remedy: 'Wait until the answer has ended, then check again.',
      find: sql`SELECT a.message_id AS id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
              WHERE a.conversation_id <> m.conversation_id
                 OR a.chunk_count <> (SELECT count(*) FROM message_chunks c WHERE c.message_id = a.message_id)`,
    },
    ...notificationInvariants(dialect),
    ...reactionInvariants(dialect),
    ...ATTACHMENTS,
    ...valueInvariants(dialect),
    ...searchInvariants(dialect, partitions),
    ...conversationInvariants(roles_beyond_member),
    {
      name: 'invites.signups',
      says: 'An invite has not created more accounts than its uses.',
      remedy: 'Harmless: only the numbers shown for the invite are wrong.',
      find: sql`SELECT id FROM invites WHERE signups > uses`,
    },
    {
      name: 'invites.uses',
      says: 'An invite has not been used more often than allowed.',
      remedy: 'Harmless: the invite is used up.',
      find: sql`SELECT id FROM invites WHERE uses > max_uses`,
    },
    {
      name: 'idempotency.posted',
      says: 'An Idempotency-Key refers to a message of the user of the key.',
      remedy: HARMLESS,
      find: sql`SELECT k.name AS id FROM idempotency_keys k JOIN messages m ON m.id = k.message_id WHERE m.posted_by <> k.user_id`,
    },
    {
      name: 'limits.refer',
      says: 'A limit assignment refers to an existing profile.',
      remedy: 'Harmless: the assignment has no effect. Remove it with "chat-server limits assignments delete".',
      find: sql`SELECT a.id FROM limit_assignments a LEFT JOIN limit_profiles p ON p.id = a.profile_id WHERE p.id IS NULL`,
    },
    {
      name: 'users.own',
      says: 'Sessions, keys, identities, resets and known browsers belong to an existing user.',
      remedy: HARMLESS,
      find: join(ORPHANS, ' UNION ALL '),
    },
    MERGED,
    {
      name: 'hook-has-bot',
      says: 'An incoming hook posts as a bot that exists, without keys.',
      remedy: 'Harmless to all else: delete the hook with "chat-server hook delete", and make it again.',
      find: sql`SELECT h.id FROM hooks h LEFT JOIN users u ON u.id = h.bot_id AND u.kind = 'bot' AND u.owner_id IS NULL
              WHERE u.id IS NULL OR EXISTS (SELECT 1 FROM api_keys k WHERE k.user_id = h.bot_id)`,
    },
    {
      name: 'keys-of-owned-bots',
      says: 'A bot with API keys has an owner.',
      remedy: 'Harmless: the keys are refused. Give the bot away with "chat-server bot give", or erase it as a user.',
      find: sql`SELECT k.id FROM api_keys k JOIN users u ON u.id = k.user_id
              WHERE u.kind = 'bot' AND NOT EXISTS (SELECT 1 FROM users o WHERE o.id = u.owner_id)`,
    },
    ...webhookInvariants(dialect),
    ...usageInvariants(dialect),
    ...CALLS,
    ...GRANTS,
    {
      name: 'participants.former',
      says: 'Users who wrote in a conversation take part in it, or did: they have names there.',
      find: sql`${FIND_FORMER} AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind IN ('participants.fill', 'user.erase'))`,
      repair: FILL_FORMER,
    },
    {
      name: 'users.disabled',
      says: 'A disabled user has no session.',
      remedy: 'End the sessions with "chat-server user disable", which can be repeated.',
      find: sql`SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.disabled_at IS NOT NULL`,
    },
    {
      name: 'sessions.rotated',
      says: 'A replaced token belongs to an existing session and is not its current token.',
      remedy: HARMLESS,
      find: sql`SELECT r.session_id AS id FROM rotated_tokens r LEFT JOIN sessions s ON s.id = r.session_id
              WHERE s.id IS NULL OR s.token_hash = r.token_hash`,
    },
    {
      // The next sign-in ends the extra sessions: a lowered limit is not an error of the database.
      name: 'sessions.cap',
      note: true,
      says: 'No user has more live sessions than allowed.',
      remedy: 'Harmless: the next sign-in of the user ends the oldest sessions.',
      find: sql`SELECT user_id AS id FROM sessions WHERE idle_expires_at >= ${now} AND absolute_expires_at >= ${now}
              GROUP BY user_id HAVING count(*) > ${max_sessions_per_user || Number.MAX_SAFE_INTEGER}`,
    },
  ]
}
