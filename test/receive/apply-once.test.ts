import fc from 'fast-check'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { applyOnce, type PgTransaction, pgStore } from '../../lib/receive/index.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { eventOf, openStore, type TestStore } from './stores.ts'

describeOnEachEmptyDatabase('events that are applied once', (openUrl, dialect) => {
  async function open(): Promise<TestStore & { url: string }> {
    const url = await openUrl()
    const opened = await openStore(url)
    onTestFinished(() => opened.close())
    return { ...opened, url }
  }

  const page = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => eventOf(from + n))
  const idsOf = (from: number, to: number) => page(from, to).map(({ id }) => id)

  it('skip what is stored, also within a page, and in their order', async () => {
    const { store, write, effects } = await open()
    const first = await applyOnce(store, 'crm', page(1, 4), write)
    expect(first).toEqual({ applied: 3, skipped: 0, position: '1.3' })
    const second = [eventOf(2), eventOf(5), eventOf(4), eventOf(5)]
    expect(await applyOnce(store, 'crm', second, write)).toMatchObject({ applied: 2, skipped: 2 })
    expect(await effects()).toEqual([1, 2, 3, 5, 4].map((n) => eventOf(n).id))
  })

  it('are told apart by source', async () => {
    const { store, write, effects } = await open()
    for (const source of ['crm', 'billing']) await applyOnce(store, source, page(1, 2), write)
    expect(await effects()).toEqual([eventOf(1).id, eventOf(1).id])
  })

  it('are rolled back together with the ids and the position when an effect throws', async () => {
    const { store, write, effects, ids } = await open()
    const failing = (tx: unknown, event: { id: string }) => {
      if (event.id === eventOf(3).id) throw new Error('no')
      return write(tx, event)
    }
    const move = { after: null, position: '1.9' }
    await expect(applyOnce(store, 'crm', page(1, 5), failing, move)).rejects.toThrow('no')
    expect([await effects(), await ids(), await store.positions('crm')]).toEqual([[], [], {}])
    await applyOnce(store, 'crm', page(1, 5), write, move)
    expect(await effects()).toEqual(idsOf(1, 5))
    expect(await store.positions('crm')).toEqual({ pulled: '1.9' })
  })

  it('are refused where another process has moved the position', async () => {
    const { store, write, effects } = await open()
    await applyOnce(store, 'crm', page(1, 2), write, { after: null, position: '1.1' })
    for (const after of [null, '1.0'])
      await expect(applyOnce(store, 'crm', page(2, 3), write, { after, position: '1.2' })).rejects.toMatchObject({
        code: 'position_moved',
      })
    expect(await effects()).toEqual(idsOf(1, 2))
  })

  it('happen once, whatever arrives at the same time on two connections', async () => {
    const opened = await open()
    const other = await opened.other()
    onTestFinished(() => other.close())
    const calls = Array.from({ length: 20 }, (_, n) => {
      const { store, write } = n % 2 ? opened : other
      return applyOnce(store, 'crm', page(1, 11), write)
    })
    const applied = (await Promise.all(calls)).map((result) => result.applied)
    expect(applied.reduce((sum, n) => sum + n)).toBe(10)
    expect(await opened.effects()).toEqual(idsOf(1, 11))
  })

  it('equal the events under any schedule of pages, repetitions and failures', async () => {
    const opened = await open()
    const other = await opened.other()
    onTestFinished(() => other.close())
    let run = 0
    const attempts = fc.array(
      fc.record({ from: fc.nat(15), size: fc.integer({ min: 1, max: 6 }), fails: fc.boolean(), first: fc.boolean() }),
      { minLength: 1, maxLength: 12 },
    )
    const property = fc.asyncProperty(attempts, async (schedule) => {
      const source = `run ${run++}`
      const outcomes = schedule.map(({ from, size, fails, first }) => {
        const { store, write } = first ? opened : other
        let left = size
        const effect = (tx: unknown, event: { id: string }) => {
          if (fails && --left === 0) throw new Error('no')
          return write(tx, { id: `${source} ${event.id}` })
        }
        return applyOnce(store, source, page(from, from + size), effect).catch((error) => {
          if (error.message !== 'no') throw error
        })
      })
      await Promise.all(outcomes)
      // What failed is sent again, as the service does.
      for (const { from, size } of schedule)
        await applyOnce(opened.store, source, page(from, from + size), (tx, { id }) =>
          opened.write(tx, { id: `${source} ${id}` }),
        )
      const sent = new Set(schedule.flatMap(({ from, size }) => idsOf(from, from + size)))
      const written = (await opened.effects()).filter((id) => id.startsWith(`${source} `))
      expect(written.sort()).toEqual([...sent].map((id) => `${source} ${id}`).sort())
    })
    await fc.assert(property, { numRuns: 40 })
  })

  it('are applied again after they are forgotten, and their ids are deleted after thirty days', async () => {
    const { store, write, effects, ids, run } = await open()
    await applyOnce(store, 'crm', page(1, 3), write, { after: null, position: '1.2' })
    await store.forget('crm', { since: new Date(Date.now() + 60_000) })
    expect(await applyOnce(store, 'crm', page(1, 3), write)).toMatchObject({ applied: 0 })
    await store.forget('crm', { since: new Date(Date.now() - 60_000), position: '1.0' })
    expect(await store.positions('crm')).toEqual({ pulled: '1.0' })
    expect(await applyOnce(store, 'crm', page(1, 3), write)).toMatchObject({ applied: 2 })
    expect(await effects()).toHaveLength(4)
    const old = dialect === 'sqlite' ? 'unixepoch() - 31 * 86400' : "now() - interval '31 days'"
    await run(`UPDATE chat_received SET at = ${old} WHERE id = '${eventOf(1).id}'`)
    for (let n = 0; n < 1000; n++) await applyOnce(store, 'crm', [eventOf(3)], write)
    expect(await ids()).toEqual(idsOf(2, 4))
  })

  it('have tables that several processes may create at the same time', async () => {
    const { store, other } = await open()
    const second = await other()
    onTestFinished(() => second.close())
    await Promise.all([store, second.store, store, second.store].map((each) => each.migrate()))
  })

  if (dialect === 'sqlite') {
    it('refuse an effect that returns a promise, and one inside another transaction', async () => {
      const { store, effects, ids, run } = await open()
      await expect(applyOnce(store, 'crm', page(1, 2), async () => Promise.reject(new Error('x')))).rejects.toThrow(
        /synchronous. Remove "async"/,
      )
      await run('BEGIN')
      await expect(applyOnce(store, 'crm', page(1, 2), () => {})).rejects.toThrow('has a transaction open')
      await run('ROLLBACK')
      await expect(applyOnce(store, 'crm', page(1, 2), (tx) => tx.exec('COMMIT'))).rejects.toThrow('has ended')
      expect(await effects()).toEqual([])
      expect(await ids()).toEqual([eventOf(1).id])
    })
    return
  }

  it('are rolled back with words where an effect hides a failed statement', async () => {
    const { store, write, effects, ids } = await open()
    const hiding = async (tx: PgTransaction, event: { id: string }) => {
      await write(tx, event)
      await tx.query('SELECT nothing').catch(() => {})
    }
    await expect(applyOnce(store, 'crm', page(1, 2), hiding)).rejects.toMatchObject({ code: 'not_atomic' })
    expect([await effects(), await ids()]).toEqual([[], []])
  })

  it('wait for an attempt that is late, and are applied if it is rolled back', async () => {
    for (const ending of ['COMMIT', 'ROLLBACK']) {
      const { store, write, effects, url } = await open()
      const late = new Client({ connectionString: url })
      await late.connect()
      await late.query('BEGIN')
      await late.query('INSERT INTO chat_received (source, id) VALUES ($1, $2)', ['crm', eventOf(1).id])
      await write(late, eventOf(1))
      const second = applyOnce(store, 'crm', page(1, 2), write)
      await expect.poll(() => waiting(late)).toBe(1)
      await late.query(ending)
      await late.end()
      expect(await second).toMatchObject({ applied: ending === 'COMMIT' ? 0 : 1 })
      expect(await effects()).toEqual(idsOf(1, 2))
    }
  })

  it('happen once where the connection is lost before or after the commit', async () => {
    const { write, effects, url } = await open()
    for (const [n, isCommitted] of [true, false].entries()) {
      const store = pgStore({
        async connect() {
          const client = new Client({ connectionString: url })
          await client.connect()
          const query = async (text: string, values?: unknown[]) => {
            if (text !== 'COMMIT') return await client.query(text, values)
            await client.query(isCommitted ? 'COMMIT' : 'SELECT 1')
            await client.query('SELECT pg_terminate_backend(pg_backend_pid())')
            throw new Error('unreachable')
          }
          const release = () => void client.end().catch(() => {})
          return { query, release, on: client.on.bind(client), off: client.off.bind(client) } as never
        },
      })
      const events = page(n * 2 + 1, n * 2 + 3)
      await expect(applyOnce(store, 'crm', events, write)).rejects.toThrow()
      const again = await openStore(url)
      onTestFinished(() => again.close())
      expect(await applyOnce(again.store, 'crm', events, write)).toMatchObject({ applied: isCommitted ? 0 : 2 })
    }
    expect(await effects()).toEqual(idsOf(1, 5))
  })
})

async function waiting(client: Client): Promise<number> {
  const text =
    "SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
  return (await client.query(text)).rows[0].n
}
