import type { Queries } from '../../storage/database.ts'
import { type Columns, onRows, together } from '../../storage/on-rows.ts'
import { IS_UNLISTED } from '../../storage/schema/0055-followed-threads.ts'
import { isOtherDisabled, join, type Micros, NEXT_DOC, name, type Sql, sql } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import type { Layout } from '../conversations/schema-look.ts'
import type { MessageRow } from './store.ts'

/** The target of a post: a conversation for a new thread, or the message to reply to. */
export interface Target {
  /** The index of the post in the batch. */
  n: number
  conversation_id: string | null
  parent_id: string | null
  user_id: string
}

const TARGET = { n: 'bigint', conversation_id: 'text', parent_id: 'text', user_id: 'text' } as const

/** A conversation that is locked until the transaction ends, and the user's role in it. */
export interface LockedTarget {
  n: number
  conversation_id: string
  clock: Micros
  role: ParticipantRole
  is_direct: number
  layout: Layout | null
  /** As JSON. */
  policy: string | null
  /** Since when the conversation is frozen. */
  frozen_at: Micros | null
  /** The key of the assistant that is asked in the conversation where none is chosen. */
  assistant: string | null
  /** 1 for a direct conversation whose other person is disabled or erased. */
  is_closed: number
  /** 1 if the user has archived the conversation. */
  archived: number
}

/**
 * The conversations of targets. Materialized: in a new database PostgreSQL would look up the message of each target for
 * each conversation that there is. `member_of` is the same again: PostgreSQL knows that for equal columns, and would read
 * all participants of a conversation by its id, which seems as cheap where most conversations have few.
 */
const placesOf = (given: Sql) => sql`WITH places AS MATERIALIZED (
    SELECT given.n, given.user_id, coalesce(m.conversation_id, given.conversation_id) AS conversation_id,
           coalesce(m.conversation_id, given.conversation_id) AS member_of
      FROM ${given} LEFT JOIN messages m ON m.id = given.parent_id)`

/** Only a direct conversation costs a look at its people. */
const isClosed = (userId: Sql) => sql`CASE WHEN c.is_direct = 0 THEN 0 WHEN c.pair_key IS NULL THEN 1
       WHEN ${isOtherDisabled(userId)} THEN 1 ELSE 0 END AS is_closed`

/**
 * PostgreSQL takes IS NULL to be rare in a table of which it knows nothing: it would read all conversations for a batch,
 * since few seem to be left, and a connection keeps that plan until the table has statistics.
 */
export const IS_LEFT = sql`CASE WHEN c.deleted_at IS NULL THEN true ELSE false END`

// Locked in the order of ids, so that two transactions cannot deadlock.
const lockTargetsWith = (lock: Sql) =>
  onRows<Target>(
    TARGET,
    (given) =>
      sql`${placesOf(given)}
       SELECT places.n, c.id AS conversation_id, c.clock, c.is_direct, c.layout, c.policy, c.assistant, c.frozen_at, p.role,
           p.archived, ${isClosed(sql`places.user_id`)}
         FROM places
         JOIN conversations c ON c.id = places.conversation_id
         JOIN participants p ON p.conversation_id = places.member_of AND p.user_id = places.user_id
        WHERE ${IS_LEFT} ORDER BY c.id ${lock}`,
    {
      alone: ({ n, conversation_id, parent_id, user_id }) =>
        sql`SELECT ${n} AS n, c.id AS conversation_id, c.clock, c.is_direct, c.layout, c.policy, c.assistant, c.frozen_at, p.role,
           p.archived, ${isClosed(user_id)}
         FROM conversations c
         JOIN participants p ON p.conversation_id = c.id AND p.user_id = ${user_id}
        WHERE c.id = coalesce(${conversation_id}, (SELECT m.conversation_id FROM messages m WHERE m.id = ${parent_id}))
          AND c.deleted_at IS NULL`,
    },
  )
const LOCK = lockTargetsWith(sql`FOR UPDATE OF c FOR SHARE OF p`)
const LOCK_FREE = lockTargetsWith(sql`FOR UPDATE OF c SKIP LOCKED FOR SHARE OF p`)

/** Locks for system actors that are not disabled: they participate in no conversation. */
const LOCK_ANY = onRows<Target>(
  TARGET,
  (given, dialect) =>
    sql`SELECT given.n, c.id AS conversation_id, c.clock, c.is_direct, c.layout, c.policy, c.assistant, c.frozen_at,
          'owner' AS role, 0 AS archived, ${isClosed(sql`given.user_id`)}
       FROM ${given}
       LEFT JOIN messages m ON m.id = given.parent_id
       JOIN conversations c ON c.id = coalesce(m.conversation_id, given.conversation_id)
       JOIN users u ON u.id = given.user_id AND u.disabled_at IS NULL
      WHERE ${IS_LEFT} ${dialect === 'sqlite' ? sql`` : sql`ORDER BY c.id FOR UPDATE OF c FOR KEY SHARE OF u`}`,
)

/** How the conversations of posts are locked. */
export interface LockOptions {
  /** Skips conversations that other transactions have locked, on PostgreSQL. */
  unlessLocked?: boolean
  /** Whether system actors post, which participate in no conversation. */
  isSystem?: boolean
  /** Leaves out questions to the assistant: each is stored in a transaction of its own. */
  withoutQuestions?: boolean
}

/** Locks the conversations of posts whose users are participants of them. By primary keys. */
export function lockTargets(tx: Queries, targets: Target[], options: LockOptions): Promise<LockedTarget[]> {
  return (options.isSystem ? LOCK_ANY : options.unlessLocked ? LOCK_FREE : LOCK).all(tx, targets)
}

/** A new thread with its first message. */
export interface NewThread {
  root_id: string
  conversation_id: string
  at: Micros
  title: string | null
}

const INSERT_THREADS = onRows<NewThread>(
  { root_id: 'text', conversation_id: 'text', at: 'bigint', title: 'text' },
  (given) =>
    sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count, title)
     SELECT root_id, conversation_id, at, at, 1, 1, title FROM ${given}`,
  {
    alone: ({ root_id, conversation_id, at, title }) =>
      sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count, title)
     VALUES (${root_id}, ${conversation_id}, ${at}, ${at}, 1, 1, ${title})`,
  },
)

/** A message to be stored. */
export interface NewMessage extends MessageRow {
  /** What its mentions come from, as JSON; read for an edit alone. */
  mention_origins: string | null
}

/** The columns of a message that a post sets. */
export const NEW_MESSAGE = {
  id: 'text',
  conversation_id: 'text',
  root_id: 'text',
  parent_id: 'text',
  posted_by: 'text',
  role: 'text',
  content: 'text',
  path: 'text',
  depth: 'bigint',
  status: 'text',
  created_at: 'bigint',
  prompt: 'text',
  metadata: 'text',
  mention_all: 'bigint',
  mentioned: 'text',
  quote_id: 'text',
  variant_of: 'text',
  assistant: 'text',
  asked: 'text',
  mention_origins: 'text',
} as const satisfies Partial<Columns<NewMessage>>

const INSERT_MESSAGES = onRows(
  NEW_MESSAGE,
  (given) =>
    sql`INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, status,
          created_at, prompt, metadata, mention_all, mentioned, quote_id, variant_of, assistant, asked, mention_origins)
     SELECT id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, status, created_at, prompt,
         metadata, mention_all, mentioned, quote_id, variant_of, assistant, asked, mention_origins FROM ${given}`,
  {
    alone: (row) =>
      sql`INSERT INTO messages (${join(Object.keys(row).map(name), ', ')}, doc)
     VALUES (${join(Object.values(row), ', ')}, ${NEXT_DOC})`,
  },
)

/** The number of replies that are added to a message. */
export interface ReplyCount {
  parent_id: string
  added: number
}

const COUNT_REPLIES = onRows<ReplyCount>(
  { parent_id: 'text', added: 'bigint' },
  (given) =>
    sql`UPDATE messages SET reply_count = reply_count + given.added FROM ${given} WHERE messages.id = given.parent_id`,
)

/** The number of messages that a user adds to a thread. */
export interface Contribution {
  root_id: string
  user_id: string
  added: number
  /** Since when the user follows the thread by it; `null` for a root, and for a user who follows the thread already. */
  followed_at: Micros | null
}

const ADD_TO_MEMBER = sql`ON CONFLICT (root_id, user_id)
     DO UPDATE SET live_count = thread_members.live_count + excluded.live_count,
            followed_at = coalesce(excluded.followed_at, thread_members.followed_at)`

const COUNT_LIVE = onRows<Contribution>(
  { root_id: 'text', user_id: 'text', added: 'bigint', followed_at: 'bigint' },
  (given) =>
    sql`INSERT INTO thread_members (root_id, user_id, live_count, followed_at)
     SELECT root_id, user_id, added, followed_at FROM ${given} WHERE true
     ${ADD_TO_MEMBER}`,
  {
    alone: ({ root_id, user_id, added, followed_at }) =>
      sql`INSERT INTO thread_members (root_id, user_id, live_count, followed_at)
     VALUES (${root_id}, ${user_id}, ${added}, ${followed_at}) ${ADD_TO_MEMBER}`,
  },
)

/** The changes of a thread by replies: its latest activity, the number of new messages, and of new authors, and who replied last. */
export interface Activity {
  root_id: string
  at: Micros
  added: number
  joined: number
  last_repliers: string
}

const COUNT_IN_THREADS = onRows<Activity>(
  { root_id: 'text', at: 'bigint', added: 'bigint', joined: 'bigint', last_repliers: 'text' },
  (given) =>
    sql`UPDATE threads SET last_activity_at = given.at, message_count = message_count + given.added,
            participant_count = participant_count + given.joined, last_repliers = given.last_repliers,
            repliers_as_of = given.at + message_count + given.added,
            listed_to = CASE WHEN ${IS_UNLISTED} THEN listed_to ELSE given.at END
       FROM ${given} WHERE threads.root_id = given.root_id`,
)

/** The messages of an author, which count as seen. A post also returns the conversation to the author's list. */
export interface Seen {
  conversation_id: string
  user_id: string
  added: number
  /** The roots among them. */
  roots: number
}

const COUNT_SEEN = onRows<Seen>(
  { conversation_id: 'text', user_id: 'text', added: 'bigint', roots: 'bigint' },
  (given) =>
    sql`UPDATE participants SET seen_count = seen_count + given.added, seen_roots = seen_roots + given.roots,
            seen_replies = seen_replies + given.added - given.roots, archived = 0
       FROM ${given} WHERE participants.conversation_id = given.conversation_id
           AND participants.user_id = given.user_id`,
  {
    alone: ({ conversation_id, user_id, added, roots }) =>
      sql`UPDATE participants SET seen_count = seen_count + ${added}, seen_roots = seen_roots + ${roots},
            seen_replies = seen_replies + ${added} - ${roots}, archived = 0
      WHERE conversation_id = ${conversation_id} AND user_id = ${user_id}`,
  },
)

/** All changes by a batch of posts; changes of the same row are combined. */
export interface Additions {
  threads: NewThread[]
  messages: NewMessage[]
  replies: ReplyCount[]
  contributions: Contribution[]
  activities: Activity[]
  seen: Seen[]
}

/** The statements that store posts. */
export const STORING = {
  threads: INSERT_THREADS,
  messages: INSERT_MESSAGES,
  replies: COUNT_REPLIES,
  contributions: COUNT_LIVE,
  activities: COUNT_IN_THREADS,
  seen: COUNT_SEEN,
}

/** Stores posts. */
export const insertPosts = together<Additions>(STORING)
