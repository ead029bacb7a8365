import type { Database, Queries } from '../../../lib/storage/database.ts'
import { RECOUNT_MESSAGES } from '../../../lib/storage/schema/0012-unread-totals.ts'
import { REPLIERS_AS_OF } from '../../../lib/storage/schema/0058-last-repliers.ts'
import { literal, type Sql, sql, statement } from '../../../lib/storage/sql.ts'
import { RECOUNT_SEEN, ROOT_COUNT } from '../../../lib/storage/unread-set.ts'

/** What a conversation is filled with: threads of one author, whose messages arrive in turns. */
export interface Filling {
  /** Tells its ids from those of other conversations of the database. */
  n: number
  conversation_id: string
  author: string
  threads: number
  /** The replies of each thread, all to its root. */
  replies: number
  /** The arrival of the first message. */
  since: number
  /** Who follows each thread since it began. */
  followers?: readonly string[]
  /** Whether each root quotes the one before. */
  quotes?: boolean
}

/** A rare text is longer than what an excerpt of it shows. */
const TEXT = 'so it goes on and on '

const MAX_REPLIES = 36 ** 4

/** The id of a message of a thread, both by number, as the statements make it. */
export function messageId({ n }: Pick<Filling, 'n'>, thread: number, message = 0): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  return `${hex(message, 8)}-${hex(n, 4)}-7000-8000-${hex(thread, 12)}`
}

/** Stores threads by a few statements on either database, as if they had been posted; {@link settle} counts them. */
export async function fillConversation(db: Database, filling: Filling): Promise<void> {
  const { n, conversation_id, author, threads, replies, since, followers = [], quotes } = filling
  if (replies >= MAX_REPLIES) throw new Error('a thread has no place for so many replies')
  const name = n.toString(16).padStart(4, '0')
  const id = (message: string, thread = 't') =>
    statement(
      db.dialect === 'sqlite'
        ? `printf('%08x-${name}-7000-8000-%012x', ${message}, ${thread})`
        : `lpad(to_hex(${message}), 8, '0') || '-${name}-7000-8000-' || lpad(to_hex(${thread}), 12, '0')`,
    )
  const at = (message: string) => statement(`${since} + ${message} * ${threads} + t`)
  const last = at(`${replies}`)
  const all = numbers('t', threads)
  const fill = async (tx: Queries) => {
    await tx.run(
      sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count,
            listed_to, last_repliers)
       SELECT ${id('0')}, ${conversation_id}, ${at('0')}, ${last}, ${literal(replies + 1)}, 1, ${last},
              ${replies > 0 ? sql`${author} || ':' || (${last})` : sql`NULL`}
         FROM ${all}`,
    )
    await tx.run(
      sql`UPDATE threads SET repliers_as_of = ${REPLIERS_AS_OF}
        WHERE conversation_id = ${conversation_id} AND last_repliers IS NOT NULL`,
    )
    await tx.run(
      sql`INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count,
            status, created_at, quote_id)
       SELECT ${id('m')}, ${conversation_id}, ${id('0')}, CASE WHEN m > 0 THEN ${id('0')} END, ${author}, 'user',
              substr(${TEXT.repeat(8)}, 1, 21 * (1 + (t * 7 + m) % 8)), CASE WHEN m = 0 THEN '10' ELSE '10' || ${SEGMENT} END,
              CASE WHEN m > 0 THEN 1 ELSE 0 END, CASE WHEN m = 0 THEN ${literal(replies)} ELSE 0 END, 'complete', ${at('m')},
              ${quotes ? sql`CASE WHEN m = 0 AND t > 0 THEN ${id('0', 't - 1')} END` : sql`NULL`}
         FROM ${numbers('m', replies + 1)} CROSS JOIN ${all}`,
    )
    await tx.run(
      sql`INSERT INTO thread_members (root_id, user_id, live_count, listed_in, listed_at)
       SELECT ${id('0')}, ${author}, ${literal(replies + 1)}, ${replies > 0 ? sql`${conversation_id}, ${last}` : sql`NULL, NULL`}
         FROM ${all}`,
    )
    for (const user of followers)
      await tx.run(
        sql`INSERT INTO thread_members (root_id, user_id, followed_at, listed_in, listed_at, news_at)
         SELECT ${id('0')}, ${user}, ${at('0')},
                ${replies > 0 ? sql`${conversation_id}, ${last}, ${last}` : sql`NULL, NULL, NULL`}
           FROM ${all}`,
      )
    const end = since + (replies + 1) * threads
    await tx.run(
      sql`UPDATE conversations SET clock = ${end}, active_at = ${end - 1} WHERE id = ${conversation_id} AND clock < ${end}`,
    )
  }
  await db.write(fill, { timeout: false })
}

/** Counts what the conversations of a database have, and what is unread. PostgreSQL gets its statistics. */
export async function settle(db: Database): Promise<void> {
  await db.write(
    async (tx) => {
      await tx.run(RECOUNT_MESSAGES)
      await tx.run(sql`UPDATE conversations SET root_count = ${ROOT_COUNT}, counted_seq = last_seq`)
      await tx.run(RECOUNT_SEEN)
    },
    { timeout: false },
  )
  if (db.dialect === 'postgresql') await db.run(sql`VACUUM ANALYZE`)
}

/** The numbers from 0 to below `count`, as the column of a table. */
function numbers(column: string, count: number): Sql {
  return statement(`(WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count - 1})
                 SELECT n AS ${column} FROM counted) AS numbers_${column}`)
}

/** The segment of the path of reply `m` of a root: the number of its base-36 digits, then these. */
const SEGMENT = statement(
  `CASE ${[1, 2, 3, 4].map((digits) => `WHEN m <= ${36 ** digits} THEN '${digits}' || ${base36(digits)}`).join(' ')} END`,
)

function base36(digits: number): string {
  const places = Array.from({ length: digits }, (_, n) => 36 ** (digits - 1 - n))
  return places
    .map((place) => `substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + (m - 1) / ${place} % 36, 1)`)
    .join(' || ')
}
