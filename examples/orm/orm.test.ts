import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { fileOf } from '../../test/storage/handles.ts'
import { describeOnEachDatabase } from '../../test/support/databases.ts'
import { startService, startThread } from '../../test/support/service.ts'
import * as drizzle from './drizzle.ts'
import * as kysely from './kysely.ts'
import { placeWithDrizzle, placeWithKysely } from './sqlite.ts'

describeOnEachDatabase('an order and its message', (openUrl, dialect) => {
  async function open() {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(() => service.close())
    const { ada, conversation_id } = await startThread(service)
    const { chat } = service
    const actor = await chat.users.actor(ada.id)
    const contents = async () =>
      (await chat.threads.list(actor, conversation_id)).threads.map(({ root_excerpt }) => root_excerpt)
    const placesIn = (id: string) => (dialect === 'sqlite' ? onSqlite : onPostgres)(url, [chat, actor, id])
    return { contents, places: await placesIn(conversation_id), elsewhere: await placesIn('no conversation') }
  }

  it.each(['drizzle', 'kysely'] as const)('are stored together by %s, or not at all', async (name) => {
    const { contents, places, elsewhere } = await open()
    const { place, count } = places[name]
    await place(42)
    expect(await contents()).toContain('Order 42')
    // The message cannot be posted, so no order is stored; the order exists, so no message is posted.
    await expect(elsewhere[name].place(43)).rejects.toMatchObject({ code: 'not_found' })
    expect(await count()).toBe(1)
    await expect(place(42)).rejects.toThrow()
    expect((await contents()).filter((content) => content === 'Order 42')).toHaveLength(1)
    await place(43)
    expect(await count()).toBe(2)
    expect(await contents()).toContain('Order 43')
  })
})

type Args = Parameters<typeof drizzle.placeOrder> extends [unknown, ...infer Rest, number] ? Rest : never

async function onPostgres(url: string, args: Args) {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  onTestFinished(() => pool.end())
  await pool.query('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY)')
  const count = async () => Number((await pool.query('SELECT count(*) AS n FROM orders')).rows[0].n)
  return {
    drizzle: { place: (id: number) => drizzle.placeOrder(pool, ...args, id), count },
    kysely: { place: (id: number) => kysely.placeOrder(pool, ...args, id), count },
  }
}

function onSqlite(url: string, args: Args) {
  const db = new Sqlite(fileOf(url))
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY)')
  const count = async () => (db.prepare('SELECT count(*) AS n FROM orders').get() as { n: number }).n
  return {
    drizzle: { place: (id: number) => placeWithDrizzle(db, ...args, id), count },
    kysely: { place: (id: number) => placeWithKysely(db, ...args, id), count },
  }
}
