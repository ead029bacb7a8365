import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { type Columns, onRows } from '../../storage/on-rows.ts'
import { join, literal, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addToMentions } from '../../storage/unread-mentions.ts'
import { FOLLOWED_SINCE_IN_GROUP, MAY_FOLLOW } from '../../storage/unread-set.ts'
import type { Level } from '../conversations/schema-settings.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import { mentionGroups } from './rules.ts'
import type { MadeNotification, MadeOfMessage } from './store-making.ts'

/** The latest message of one author in a direct conversation, for the other participant. */
export interface NewDirect {
  id: string
  at: Micros
  conversation_id: string
  root_id: string
  message_id: string
  author: string
  /** The level of participants without one of their own. */
  level: Level
  /** The arrival of the first of the messages. */
  since: Micros
}

const DIRECT = {
  id: 'text',
  at: 'bigint',
  conversation_id: 'text',
  root_id: 'text',
  message_id: 'text',
  author: 'text',
  level: 'text',
  since: 'bigint',
} as const satisfies Columns<NewDirect>

const COLUMNS = sql`user_id, id, kind, at, conversation_id, scope_id, message_id, since`

/**
 * There is one for a scope while it is not read, and each message moves it to the front. One that was hidden is new: it gets
 * the new id. A task may come after the post of a later message.
 */
const MOVE = sql`ON CONFLICT (user_id, scope_id) WHERE scope_id IS NOT NULL AND read_at IS NULL DO UPDATE
     SET id = CASE WHEN notifications.hidden > 0 THEN excluded.id ELSE notifications.id END, hidden = 0,
         message_id = CASE WHEN excluded.at > notifications.at THEN excluded.message_id ELSE notifications.message_id END,
         at = CASE WHEN excluded.at > notifications.at THEN excluded.at ELSE notifications.at END`

const insertInto = (given: Sql) => sql`INSERT INTO notifications (${COLUMNS})
  SELECT p.user_id, given.id, 'direct', given.at, given.conversation_id, given.conversation_id, given.message_id,
         given.since
    FROM ${given}
    JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id <> given.author
   WHERE coalesce(p.level, given.level) <> 'none'
  ${MOVE}
  RETURNING user_id, id, conversation_id, at, message_id`

/** A row that was made or moved. */
interface Moved {
  user_id: string
  id: string
  conversation_id: string
  at: Micros
  message_id: string
}

/** PostgreSQL also ends the archiving of the conversation, and returns the settings from before. */
const MOVE_DIRECT = onRows<NewDirect>(DIRECT, (given, dialect) =>
  dialect === 'sqlite'
    ? insertInto(given)
    : sql`WITH made AS (${insertInto(given)}),
         shown AS (
           UPDATE participants SET archived = 0 FROM made
            WHERE participants.conversation_id = made.conversation_id AND participants.user_id = made.user_id
              AND archived = 1)
       SELECT made.*, p.level, p.muted_until, p.archived FROM made
         JOIN participants p ON p.conversation_id = made.conversation_id AND p.user_id = made.user_id`,
)

/** Ends the archiving for a row that SQLite has made, and adds the settings from before. */
async function show(tx: Queries, row: Moved): Promise<Moved & ParticipantSettings> {
  const place = sql`conversation_id = ${row.conversation_id} AND user_id = ${row.user_id}`
  const settings = await tx.get<Omit<ParticipantSettings, 'user_id'>>(
    sql`SELECT level, muted_until, archived FROM participants WHERE ${place}`,
  )
  if (settings!.archived === 1) await tx.run(sql`UPDATE participants SET archived = 0 WHERE ${place}`)
  return { ...row, ...settings! }
}

/**
 * Moves the notifications of direct conversations to the front, or makes them, for participants who want them, and ends the
 * archiving of these.
 */
export async function moveDirect(tx: Queries, rows: readonly NewDirect[]): Promise<MadeNotification[]> {
  const moved = await MOVE_DIRECT.all<Moved & ParticipantSettings>(tx, rows)
  const settled = tx.dialect === 'sqlite' ? await Promise.all(moved.map((row) => show(tx, row))) : moved
  return settled.map((row) => toMade({ ...row, kind: 'direct' }, row))
}

function toMade(row: Moved & { kind: 'direct' | 'reply' }, user: ParticipantSettings): MadeOfMessage {
  const { user_id, level, muted_until, archived } = user
  const { id, kind, at, conversation_id, message_id } = row
  return {
    notification: { id, kind, at: toInstant(at), conversation_id, message_id },
    users: [{ user_id, level, muted_until, archived }],
    shown: archived === 1 ? [user_id] : [],
  }
}

/** A user who follows a thread. */
export interface Follower extends ParticipantSettings {
  root_id: string
  /** Since when. */
  since: Micros
}

/** The followers of a thread that a reply notifies in its own transaction. With more, a task notifies all of them. */
export const MAX_IN_POST = 100

/** Where the members who may follow a thread are found without those who only read it: by `followers_of_thread`. */
const ARE_FOLLOWERS = [MAY_FOLLOW, sql`f.user_id = root.posted_by`]

/** The followers of the thread of a row `place`. */
const FOLLOWERS = sql`SELECT r.root_id, p.user_id, p.level, p.muted_until, p.archived, ${FOLLOWED_SINCE_IN_GROUP} AS since
    FROM (${join(
      ARE_FOLLOWERS.map(
        (condition) => sql`SELECT f.root_id, f.user_id, f.followed_at, f.live_count, place.member_of
            FROM thread_members f JOIN messages root ON root.id = place.root_id
           WHERE f.root_id = place.root_id AND ${condition}`,
      ),
      ' UNION ',
    )}) AS r
    JOIN threads t ON t.root_id = r.root_id
    JOIN messages root ON root.id = r.root_id
    JOIN participants p ON p.conversation_id = r.member_of AND p.user_id = r.user_id
   WHERE ${FOLLOWED_SINCE_IN_GROUP} IS NOT NULL
   LIMIT ${literal(MAX_IN_POST + 1)}`

/** SQLite gets one parent at a time, and cannot refer to a table beside a subquery. */
const OF_PARENTS = onRows<{ parent_id: string }>({ parent_id: 'text' }, (given, dialect) =>
  dialect === 'sqlite'
    ? sql`SELECT t.root_id, p.user_id, p.level, p.muted_until, p.archived, ${FOLLOWED_SINCE_IN_GROUP} AS since
       FROM ${given}
       CROSS JOIN messages place CROSS JOIN threads t CROSS JOIN messages root CROSS JOIN thread_members r
       CROSS JOIN participants p
      WHERE place.id = given.parent_id AND t.root_id = place.root_id AND root.id = t.root_id AND r.root_id = t.root_id
        AND r.user_id IN (SELECT f.user_id FROM thread_members f WHERE f.root_id = t.root_id AND ${MAY_FOLLOW}
                           UNION SELECT root.posted_by)
        AND p.conversation_id = t.conversation_id AND p.user_id = r.user_id AND ${FOLLOWED_SINCE_IN_GROUP} IS NOT NULL
      LIMIT ${literal(MAX_IN_POST + 1)}`
    : sql`WITH places AS MATERIALIZED (
         SELECT DISTINCT m.root_id, m.conversation_id AS member_of FROM ${given} JOIN messages m ON m.id = given.parent_id)
       SELECT follower.* FROM places place CROSS JOIN LATERAL (${FOLLOWERS}) AS follower`,
)

/**
 * The followers of the threads of these messages, outside of direct conversations: of each up to one more than
 * {@link MAX_IN_POST}. By the followers of the threads.
 */
export async function listFollowers(tx: Queries, messageIds: readonly string[]): Promise<Follower[]> {
  const rows = await OF_PARENTS.all<Follower>(
    tx,
    messageIds.map((parent_id) => ({ parent_id })),
  )
  return [...new Map(rows.map((row) => [`${row.root_id} ${row.user_id}`, row])).values()]
}

/** Up to `limit` members who may follow a thread, with ids after `after`, by their ids. As {@link listFollowers}. */
export async function listMembers(
  db: Queries,
  rootId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const arms = ARE_FOLLOWERS.map(
    (condition) =>
      sql`SELECT * FROM (SELECT f.user_id FROM messages root JOIN thread_members f ON f.root_id = root.id
         WHERE root.id = ${rootId} AND f.user_id > ${after} AND ${condition} ORDER BY f.user_id LIMIT ${limit}) AS part`,
  )
  const rows = await db.all<{ user_id: string }>(sql`${join(arms, ' UNION ')} ORDER BY user_id LIMIT ${limit}`)
  return rows.map(({ user_id }) => user_id)
}

/** The message of a thread of which a follower is to be notified. */
export interface NewOfThread {
  id: string
  user_id: string
  at: Micros
  conversation_id: string
  root_id: string
  message_id: string
}

const OF_THREAD = {
  id: 'text',
  user_id: 'text',
  at: 'bigint',
  conversation_id: 'text',
  root_id: 'text',
  message_id: 'text',
} as const satisfies Columns<NewOfThread>

const insertOfThread = (given: Sql) => sql`INSERT INTO notifications (${COLUMNS})
    SELECT given.user_id, given.id, 'reply', given.at, given.conversation_id, given.root_id, given.message_id, given.at
      FROM ${given} WHERE true
    ${MOVE}
    RETURNING user_id, id, conversation_id, at, message_id`

/**
 * PostgreSQL also counts those that are new, and ends the archiving: an id of this statement is that of a new one.
 */
const MOVE_OF_THREAD = onRows<NewOfThread>(OF_THREAD, (given, dialect) =>
  dialect === 'sqlite'
    ? insertOfThread(given)
    : sql`WITH listed AS MATERIALIZED (SELECT given.* FROM ${given}),
         made AS (${insertOfThread(sql`listed AS given`)}),
         news AS (
           SELECT made.conversation_id, made.user_id,
                  sum(CASE WHEN made.id IN (SELECT listed.id FROM listed) THEN 1 ELSE 0 END) AS total
             FROM made GROUP BY made.conversation_id, made.user_id),
         counted AS (
           UPDATE participants SET unread_mentions = unread_mentions + news.total, archived = 0 FROM news
            WHERE participants.conversation_id = news.conversation_id AND participants.user_id = news.user_id
              AND (news.total > 0 OR archived = 1))
       SELECT made.* FROM made`,
)

/**
 * Moves the notifications of threads to the front, or makes them and counts them, and ends the archiving of the
 * conversations, in a transaction that has locked these.
 *
 * @param rows each user and thread once, with the settings of the user
 */
export async function moveOfThreads(
  tx: Queries,
  rows: readonly (NewOfThread & { settings: ParticipantSettings })[],
): Promise<MadeNotification[]> {
  const settingsOf = new Map(rows.map((row) => [`${row.user_id} ${row.conversation_id}`, row.settings]))
  const moved = await MOVE_OF_THREAD.all<Moved>(
    tx,
    rows.map(({ settings: _, ...row }) => row),
  )
  const results = moved.map((row) =>
    toMade({ ...row, kind: 'reply' }, settingsOf.get(`${row.user_id} ${row.conversation_id}`)!),
  )
  if (tx.dialect === 'sqlite') await countMoved(tx, rows, results)
  return results
}

async function countMoved(tx: Queries, rows: readonly NewOfThread[], results: readonly MadeOfMessage[]): Promise<void> {
  const ids = new Set(rows.map(({ id }) => id))
  const made = results.filter(({ notification }) => ids.has(notification.id))
  await addToMentions(tx, mentionGroups(made.map(({ notification, users }) => ({ ...notification, users }))), 1)
  for (const { shown, notification } of results)
    for (const id of shown)
      await tx.run(
        sql`UPDATE participants SET archived = 0
          WHERE conversation_id = ${notification.conversation_id} AND user_id = ${id}`,
      )
}
