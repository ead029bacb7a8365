import { sumOfFiles } from '../chat/attachments/store-checking.ts'
import { withDeadline } from '../core/scheduling/deadline.ts'
import { countByStatus } from '../integrations/webhooks/store.ts'
import { type DatabaseLevels, NO_POOL } from '../metrics/database.ts'
import type { Database, Queries } from '../storage/database.ts'
import { measureBytes } from '../storage/size.ts'
import { sql } from '../storage/sql.ts'
import { walBytes } from '../storage/sqlite/file.ts'

/** Counting reads a whole index, which SQLite does in the thread of the service: a hundred thousand rows take 10 ms. */
const COUNT_INTERVAL_MS = 5 * 60_000

/** A database that does not respond must not delay the page for longer. */
const TIMEOUT_MS = 500

type Counts = Pick<DatabaseLevels, 'rows' | 'files' | 'webhooks'>

const NOT_COUNTED: Counts = { rows: undefined, files: undefined, webhooks: undefined }

const NO_WEBHOOKS = { unverified: 0, active: 0, disabled: 0 }

/**
 * @param options whether to count the files of messages, and webhooks, too
 * @returns a function that reads the size of the database, and counts its rows now and then. What cannot be read is missing;
 *   counts that are late are the last known
 */
export function createDatabaseLevels(
  db: Database,
  options: { files: boolean; webhooks: boolean },
): () => Promise<DatabaseLevels> {
  let counts: Counts = NOT_COUNTED
  let countedAt = -Infinity

  async function count(): Promise<void> {
    if (performance.now() - countedAt < COUNT_INTERVAL_MS) return
    countedAt = performance.now()
    try {
      counts = {
        rows: await countRows(db),
        files: options.files ? await sumOfFiles(db) : { bytes: 0, uploading: 0 },
        webhooks: { ...NO_WEBHOOKS, ...(options.webhooks && (await countWebhooks(db))) },
      }
    } catch {
      counts = NOT_COUNTED
      countedAt = -Infinity
    }
  }

  return async () => {
    const sizes = withDeadline(readSizes(db), TIMEOUT_MS, undefined).catch(() => undefined)
    await withDeadline(count(), TIMEOUT_MS, undefined)
    return { sizes: await sizes, ...counts, pool: db.pool?.() ?? NO_POOL }
  }
}

async function readSizes(db: Queries): Promise<{ bytes: number; wal_bytes: number }> {
  return { bytes: await measureBytes(db), wal_bytes: await walBytes(db) }
}

async function countRows(db: Queries): Promise<NonNullable<DatabaseLevels['rows']>> {
  const row = await db.get<NonNullable<DatabaseLevels['rows']>>(
    sql`SELECT (SELECT count(*) FROM users WHERE system_name IS NULL) AS users,
            (SELECT count(*) FROM conversations WHERE deleted_at IS NULL) AS conversations,
            (SELECT coalesce(sum(message_count), 0) FROM conversations WHERE deleted_at IS NULL) AS messages,
            (SELECT count(*) FROM tool_calls WHERE approval = 'waiting') AS waiting`,
  )
  const { users, conversations, messages, waiting } = row!
  return {
    users: Number(users),
    conversations: Number(conversations),
    messages: Number(messages),
    waiting: Number(waiting),
  }
}

async function countWebhooks(db: Queries): Promise<Partial<typeof NO_WEBHOOKS>> {
  return Object.fromEntries((await countByStatus(db)).map(({ status, count }) => [status, Number(count)]))
}
