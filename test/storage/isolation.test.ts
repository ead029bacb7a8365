import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { folder, run } from '../cli/process.ts'
import { copyPostgresDatabase, createPostgresDatabase, directUrl, type FreshDatabase } from '../support/databases.ts'
import { pgbouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { startService, startThread, times } from '../support/service.ts'

const why = inject('postgres_url') ? '' : 'PostgreSQL is not installed'

async function onServer(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** @param make the database: with the whole schema, or without one, which is then made at this isolation */
async function create(make: () => Promise<FreshDatabase>): Promise<{ url: string; name: string }> {
  const { url, remove } = await make()
  onTestFinished(remove)
  return { url, name: new URL(url).pathname.slice(1) }
}

describe.skipIf(why).each(['repeatable read', 'serializable'])(
  `a database whose default is %s${why && `: ${why}`}`,
  (isolation) => {
    async function open(make: () => Promise<FreshDatabase>): Promise<string> {
      const { url, name } = await create(make)
      await onServer(directUrl(url), `ALTER DATABASE ${name} SET default_transaction_isolation = '${isolation}'`)
      return url
    }

    /** Writes that wait for each other, in transactions and outside. */
    async function useTogether(url: string): Promise<void> {
      const storage = await openStorage({ database: url })
      onTestFinished(() => storage.close())
      const { db } = storage
      const isolationOf = async (queries: Pick<typeof db, 'get'>) =>
        (await queries.get<{ isolation: string }>(sql`SELECT current_setting('transaction_isolation') AS isolation`))!
          .isolation
      expect(await isolationOf(db)).toBe('read committed')
      expect(await db.write(isolationOf)).toBe('read committed')
      expect(await db.write(isolationOf, { timeout: false })).toBe('read committed')
      expect(await db.snapshot(isolationOf)).toBe('repeatable read')
      await db.run(sql`CREATE TABLE counts (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)`)
      await db.run(sql`INSERT INTO counts (id, n) VALUES (1, 0)`)
      await Promise.all(times(40, () => db.run(sql`UPDATE counts SET n = n + 1 WHERE id = 1`)))
      expect(await db.get(sql`SELECT n FROM counts`)).toEqual({ n: 40 })
      // What fails leaves nothing open on the connection.
      await expect(db.run(sql`INSERT INTO counts (id, n) VALUES (1, 0)`)).rejects.toThrow()
      expect(await db.all(sql`SELECT n FROM counts`)).toEqual([{ n: 40 }])
      await db.run(sql`DROP TABLE counts`)

      const [one, two] = [await startService(url), await startService(url)]
      onTestFinished(() => one.close())
      onTestFinished(() => two.close())
      const { ada, grace, root } = await startThread(one)
      const posts = times(20, (n) => (n % 2 ? ada : grace).messages.reply(root.message_id, { content: `reply ${n}` }))
      await Promise.all(posts)
      expect((await one.chat.ops.fsck()).findings).toEqual([])
    }

    it('is used at read committed', async () => useTogether(await open(createPostgresDatabase)), 60_000)

    it.skipIf(!pgbouncer)(
      'is used at read committed behind PgBouncer',
      async () => {
        const pooler = await startPgBouncer(directUrl(await open(copyPostgresDatabase)), 'transaction')
        onTestFinished(() => pooler.stop())
        await useTogether(pooler.url)
      },
      60_000,
    )
  },
)

describe.skipIf(why).each(['LATIN1', 'SQL_ASCII'])(`a database in %s${why && `: ${why}`}`, (encoding) => {
  it('is refused at the start and by migrate, and nothing is created in it', async () => {
    const { url, name } = await create(createPostgresDatabase)
    const direct = directUrl(url)
    const other = `${name}_${encoding.toLowerCase()}`
    await onServer(
      direct,
      `CREATE DATABASE ${other} ENCODING '${encoding}' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0`,
    )
    onTestFinished(() => onServer(direct, `DROP DATABASE ${other}`))
    const database = Object.assign(new URL(direct), { pathname: `/${other}` }).href
    const storage = await openStorage({ database })
    const message = `The database is in ${encoding}`
    await expect(createChatService(parseConfig(), storage).start()).rejects.toThrow(message)
    await expect(storage.migrate()).rejects.toThrow(message)
    expect(await storage.db.all(sql`SELECT 1 AS one FROM pg_tables WHERE schemaname = 'public'`)).toEqual([])
    await storage.close()
    const { code, stderr } = await run(['serve', '--port', '0', '--database', database], { cwd: folder() })
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  }, 60_000)
})
