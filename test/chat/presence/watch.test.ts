import { afterEach, expect, it, onTestFinished } from 'vitest'
import { createHeartbeats } from '../../../lib/chat/presence/heartbeats.ts'
import { createPresenceWatch } from '../../../lib/chat/presence/watch.ts'
import { listPresence } from '../../../lib/cluster/store-presence.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { openStorage } from '../../../lib/index.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { createSqliteFile } from '../../support/databases.ts'

const closings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close()
})

/** The presence of a process with a held clock; `fail` makes the statements of one of its databases fail. */
async function start() {
  const { url, remove } = await createSqliteFile()
  closings.push(remove)
  const storage = await openStorage({ database: url })
  closings.push(storage.close)
  await storage.migrate()
  let failing: 'signals' | 'db' | undefined
  const failable = (name: typeof failing, db: Database): Database => {
    const check = <T>(call: () => Promise<T>) =>
      failing === name ? Promise.reject(new Error('The database does not respond')) : call()
    return {
      ...db,
      all: (sql) => check(() => db.all(sql)),
      run: (sql) => check(() => db.run(sql)),
    }
  }
  let at = 1_000 * SECOND
  const streams = new Set<string>()
  const warnings: string[] = []
  const announced: string[] = []
  const watch = createPresenceWatch({
    ...{ db: failable('db', storage.db), kv: storage.kv, now: () => at, broadcast_participants: 200, dead_seconds: 10 },
    hub: {
      countStreams: (id: string) => Number(streams.has(id)),
      stalled: { oldestOf() {} },
      isIdle: () => true,
      publishAbout() {},
    } as never,
    cluster: {
      ...{ id: 'here', isShared: true, isApart: true, db: failable('signals', storage.signals!) },
      ...{ hasCompany: () => false, announceUsers: (ids: string[]) => void announced.push(...ids) },
    } as never,
    log: { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} },
  })
  onTestFinished(() => watch.close())
  return {
    ...{ watch, warnings, announced },
    fail(name: typeof failing): void {
      failing = name
    },
    pass(seconds: number): void {
      at += seconds * SECOND
    },
    setStreams(userId: string, isOpen: boolean): void {
      if (isOpen) streams.add(userId)
      else streams.delete(userId)
      watch.streamsChanged(userId)
    },
    /** Whether the other processes know that a user has a stream here. */
    isKnown: async (userId: string) =>
      (await listPresence(storage.signals!, 'there', [userId])).some(({ since_age }) => since_age !== null),
  }
}

it('a user who has left while the file of signals could not be written is not online for other processes for ever', async () => {
  const { watch, announced, fail, pass, setStreams, isKnown } = await start()
  for (const user of ['ada', 'grace']) setStreams(user, true)
  await watch.sweep()
  expect(await isKnown('ada')).toBe(true)
  for (const user of ['ada', 'grace']) setStreams(user, false)
  pass(6)
  fail('signals')
  await watch.sweep()
  announced.length = 0
  fail(undefined)
  await watch.sweep()
  expect([await isKnown('ada'), await isKnown('grace')]).toEqual([false, false])
  expect(announced.sort()).toEqual(['ada', 'grace'])
})

it('a new participant has joined also if the presence cannot be sent', async () => {
  const { watch, warnings, fail } = await start()
  fail('db')
  await watch.introduce('room', 'ada')
  expect(warnings).toEqual(['The presence of a new participant could not be sent'])
})

it('a status that a user sets while an earlier one is read is not replaced by that', async () => {
  const stored = new Map<string, object>()
  const heartbeats = createHeartbeats({
    async getAll() {
      return new Map(stored) as never
    },
    set: async (key: string, value: object) => void stored.set(key, value),
  } as never)
  await heartbeats.set('ada', 'online', 1)
  await heartbeats.set('grace', 'online', 1)
  await heartbeats.seen(new Map())
  const seen = heartbeats.seen(
    new Map([
      ['ada', 2],
      ['grace', 2],
    ]),
  )
  await heartbeats.set('ada', 'away', 3)
  await seen
  expect([...stored.values()]).toMatchObject([
    { status: 'away', last_seen_at: 3 },
    { status: 'online', last_seen_at: 2 },
  ])
})
