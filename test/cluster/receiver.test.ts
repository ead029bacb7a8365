import { afterEach, expect, it, vi } from 'vitest'
import { createReceiver, type PeerHandler } from '../../lib/cluster/receiver.ts'
import { insertNode, removeNode } from '../../lib/cluster/store.ts'
import { insertSignal } from '../../lib/cluster/store-signals.ts'
import { openStorage, type Storage } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'

describeOnEachDatabase('a process that looks at what others have sent', (openUrl) => {
  const storages: Storage[] = []
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const storage of storages.splice(0)) await storage.close()
  })

  async function open(database: string) {
    const storage = await openStorage({ database })
    storages.push(storage)
    return { db: storage.signals ?? storage.db, isApart: storage.signals !== undefined }
  }

  /** @returns `look`, which returns what the process was caused to do, and the database of another process */
  async function start() {
    const url = await openUrl()
    const [{ db, isApart }, other] = [await open(url), await open(url)]
    const steps: string[] = []
    const note = async (step: string) => void steps.push(step)
    const neighbour: PeerHandler = {
      countStreams: () => 0,
      unheardFor: () => 0,
      reconsider: (userIds) => void steps.push(...userIds),
      receive: async () => {},
      endStalled() {},
      renew: () => note('renew'),
      meet: () => note('meet'),
    }
    let work = async () => {}
    const all: typeof db.all = async (sql, ...params) => {
      await work()
      return db.all(sql, ...params)
    }
    const receiver = createReceiver('here', {
      ...{ db: { ...db, all }, usesSignalFile: isApart, config: { cluster: { poll_ms: 10, instance: '' } } },
      ...{
        metrics: { polled() {} },
        log: { debug() {}, info() {}, warn() {}, error() {} },
        reload: async () => {},
        noteDetails: async () => {},
      },
    })
    const look = async (meanwhile = async () => {}) => {
      work = meanwhile
      await receiver.listen(neighbour)
      return steps.splice(0)
    }
    return { db: other.db, look }
  }

  it('lets another know its users when it was alone', async () => {
    const { db, look } = await start()
    expect(await look()).toEqual(['renew'])
    expect(await look()).toEqual([])
    await insertNode(db, 'there', '1.0.0')
    expect(await look()).toEqual(['meet'])
    await insertNode(db, 'third', '1.0.0')
    expect(await look()).toEqual([])
    await removeNode(db, 'there', async () => {})
    await removeNode(db, 'third', async () => {})
    expect(await look()).toEqual([])
    await insertNode(db, 'there', '1.0.0')
    expect(await look()).toEqual(['meet'])
  })

  it('adds its row and its users again at once when it has no row', async () => {
    const { db, look } = await start()
    expect(await look()).toEqual(['renew'])
    await db.run(sql`DELETE FROM nodes`)
    expect(await look()).toEqual(['renew'])
    expect(await db.all(sql`SELECT id FROM nodes`)).toEqual([{ id: 'here' }])
    expect(await look()).toEqual([])
  })

  it('takes signals for missed if the look itself took longer than they are kept', async () => {
    const { db, look } = await start()
    expect(await look()).toEqual(['renew'])
    await insertNode(db, 'there', '1.0.0')
    let late = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + late)
    const wait = async () => {
      late = 9_000
    }
    expect(await look(wait)).toEqual(['renew'])
  })
  it('acts on 999 signals of one look, and on more by looking at everything, which loses none of those that follow', async () => {
    const { db, look } = await start()
    await look()
    await insertNode(db, 'there', '1.0.0')
    await look()
    const user_ids = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name} ${n}`)
    const send = (name: string, count: number) =>
      db.write(async (tx) => {
        for (const user_id of user_ids(name, count))
          await insertSignal(tx, 'there', JSON.stringify({ events: [], user_ids: [user_id] }))
      })
    await send('few', 999)
    expect(await look()).toEqual(user_ids('few', 999))
    await send('many', 1_500)
    expect(await look()).toEqual(['renew'])
    expect(await look()).toEqual([])
    await send('later', 1)
    expect(await look()).toEqual(['later 0'])
  })
})
