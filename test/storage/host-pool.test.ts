import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { times } from '../support/service.ts'
import { conformance } from './conformance.ts'

const why = inject('postgres_url') ? '' : 'PostgreSQL is not installed'
const title = (text: string) => `${text}${why && `: skipped, ${why}`}`

async function openPool(options: pg.PoolConfig = {}) {
  const { url, remove } = await createPostgresDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 4, ...options })
  pool.on('error', () => {})
  onTestFinished(async () => {
    await pool.end()
    await remove()
  })
  return pool
}

/** Databases of a test file, each with a pool of a host. */
const pools = new Map<string, pg.Pool>()
const poolOf = (url: string) => {
  if (!pools.has(url))
    pools.set(
      url,
      new pg.Pool({ connectionString: url, max: 10 }).on('error', () => {}),
    )
  return pools.get(url)!
}

describe.skipIf(why)(title('a database through a pool of the host'), () => {
  conformance(
    async () => {
      const { url } = await createPostgresDatabase()
      return url
    },
    'postgresql',
    (url) => openStorage({ database: poolOf(url), strict: true }),
  )
})

describe.skipIf(why)(title('a pool of the host'), () => {
  it('serves several services, each in a schema of its own, beside the host, and stays open', async () => {
    const pool = await openPool()
    const services = await Promise.all(
      ['red', 'blue'].map(async (schema) => {
        const storage = await openStorage({ database: pool, schema })
        const chat = createChatService(parseConfig({ security: { cookie: { prefix: schema } } }), storage)
        await chat.start()
        return { schema, chat }
      }),
    )
    const ids = await Promise.all(
      services.map(async ({ schema, chat }) => {
        const actor = await chat.system('host')
        const { conversation_id } = await chat.conversations.create(actor, { title: schema })
        await Promise.all(
          times(10, (n) => chat.messages.postRoot(actor, conversation_id, { content: `${schema} ${n}` })),
        )
        return { actor, conversation_id }
      }),
    )
    for (const [n, { chat, schema }] of services.entries()) {
      const { messages } = await chat.messages.list(ids[n]!.actor, ids[n]!.conversation_id, {})
      expect(messages.length).toBe(10)
      expect(new Set(messages.map(({ content }) => String(content).split(' ')[0]))).toEqual(new Set([schema]))
      expect((await chat.ops.fsck()).findings).toEqual([])
      await chat.close()
    }
    expect(pool.totalCount).toBeLessThanOrEqual(4)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  it('keeps its settings and its parsers', async () => {
    const pool = await openPool({ max: 1 })
    const show = async () => {
      const names = ['lock_timeout', 'statement_timeout', 'default_transaction_isolation', 'search_path']
      return Promise.all(names.map(async (name) => (await pool.query(`SHOW ${name}`)).rows[0]))
    }
    const before = await show()
    const { db } = await openStorage({ database: pool })
    expect(await db.get(sql`SELECT 42::bigint AS n`)).toEqual({ n: 42 })
    expect(await db.write((tx) => tx.get(sql`SELECT 43::bigint AS n`))).toEqual({ n: 43 })
    expect(await show()).toEqual(before)
    expect((await pool.query('SELECT 42::bigint AS n')).rows).toEqual([{ n: '42' }])
    await db.close()
  })

  it('with another isolation by default runs each statement by itself, as the service expects', async () => {
    const pool = await openPool({ options: '-c default_transaction_isolation=serializable' })
    const { db } = await openStorage({ database: pool })
    const isolation = sql`SELECT current_setting('transaction_isolation') AS value`
    expect(await db.get(isolation)).toEqual({ value: 'read committed' })
    expect(await db.write((tx) => tx.get(isolation))).toEqual({ value: 'read committed' })
    await db.close()
  })

  it('survives a connection that the server ends, in the hands of the service and of the host', async () => {
    const pool = await openPool({ max: 2 })
    const { db } = await openStorage({ database: pool })
    const failed = db.write(async (tx) => {
      await tx.get(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      return tx.get(sql`SELECT 1 AS one`)
    })
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' })
    expect(await db.get(sql`SELECT 1 AS one`)).toEqual({ one: 1 })
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    // Nothing is left on the connections of the host.
    const client = await pool.connect()
    const listeners = client.listenerCount('error')
    client.release()
    await db.get(sql`SELECT 1 AS one`)
    const again = await pool.connect()
    expect(again.listenerCount('error')).toBe(listeners)
    again.release()
    await db.close()
  })

  it('is refused with options that are its own', async () => {
    const pool = await openPool()
    await expect(openStorage({ database: pool, pool_size: 3 })).rejects.toThrow('"pool_size" is of your pool')
    await expect(openStorage({ database: pool, application_name: 'chat' })).rejects.toThrow('"application_name"')
  })
})
