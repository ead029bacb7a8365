import { expect, it, onTestFinished } from 'vitest'
import { applyOnce } from '../../lib/receive/index.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { eventOf, openStore } from './stores.ts'

const OLD = { sqlite: 'unixepoch() - 31 * 86400', postgresql: "now() - interval '31 days'" }
const YOUNG = { sqlite: 'unixepoch() - 29 * 86400', postgresql: "now() - interval '29 days'" }

/** A statement that makes rows with these numbers. */
const NUMBERS = {
  sqlite: (from: number, to: number) =>
    `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) SELECT`,
  postgresql: (from: number, to: number) => `WITH n AS (SELECT generate_series(${from}, ${to}) AS i) SELECT`,
}

describeOnEachEmptyDatabase('the ids of a receiver', (openUrl, dialect) => {
  async function open() {
    const opened = await openStore(await openUrl())
    onTestFinished(() => opened.close())
    const idAt = dialect === 'sqlite' ? "printf('old_%06d', i)" : "'old_' || lpad(i::text, 6, '0')"
    const insert = (source: string, at: string, from: number, to: number) =>
      opened.run(
        `INSERT INTO chat_received (source, id, at) ${NUMBERS[dialect](from, to)} '${source}', ${idAt}, ${at} FROM n`,
      )
    return { ...opened, insert }
  }

  it('are deleted after 30 days, of all sources', async () => {
    const { store, write, ids, insert } = await open()
    await insert('crm', OLD[dialect], 1, 3)
    await insert('erp', OLD[dialect], 4, 5)
    await insert('crm', YOUNG[dialect], 6, 7)
    await applyOnce(store, 'crm', [eventOf(1)], write)
    expect(await ids()).toEqual([eventOf(1).id, 'old_000006', 'old_000007'])
  })

  it('are deleted although there are many others before them, while events go on', async () => {
    const { store, write, ids, insert } = await open()
    await insert('crm', YOUNG[dialect], 1, 15_000)
    await insert('crm', OLD[dialect], 15_001, 16_000)
    const isOld = (id: string) => id > 'old_015000'
    for (let n = 0; n < 40; n++) {
      const events = Array.from({ length: 500 }, (_, i) => eventOf(1 + n * 500 + i))
      await applyOnce(store, 'crm', events, write)
    }
    const left = await ids()
    expect(left.filter(isOld)).toEqual([])
    expect(left).toHaveLength(15_000 + 40 * 500)
  })

  it('are deleted of a later source although each process ends before a thousand ids', async () => {
    const { store, write, ids, insert, other } = await open()
    await insert('crm', YOUNG[dialect], 1, 5_000)
    await insert('erp', OLD[dialect], 5_001, 5_100)
    await applyOnce(store, 'crm', [eventOf(1)], write)
    const next = await other()
    onTestFinished(() => next.close())
    await applyOnce(next.store, 'erp', [eventOf(2)], next.write)
    expect((await ids()).filter((id) => id > 'old_005000')).toEqual([])
  })
})
