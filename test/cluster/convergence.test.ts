import fc from 'fast-check'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createPresenceWatch } from '../../lib/chat/presence/watch.ts'
import { createNodeHeartbeat } from '../../lib/cluster/heartbeat.ts'
import { createPublisher } from '../../lib/cluster/publisher.ts'
import { createReceiver, type PeerHandler } from '../../lib/cluster/receiver.ts'
import { createClock } from '../../lib/core/clock.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { SECOND } from '../../lib/core/units.ts'
import { openStorage, parseConfig, type Storage } from '../../lib/index.ts'
import type { Database } from '../../lib/storage/database.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { times } from '../support/service.ts'

const USERS = ['ada', 'grace']
const IDS = ['first', 'second']
const LOG = { debug() {}, info() {}, warn() {}, error() {} }

/** What happens at a process, or to it. */
type Step =
  | { kind: 'opens' | 'closes'; node: number; user: number }
  | { kind: 'sweeps' | 'listens' | 'beats' | 'sends'; node: number }
  | { kind: 'seems dead' | 'is killed' | 'fails' | 'loses results' | 'recovers'; node: number }

const node = fc.nat({ max: IDS.length - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('opens', 'closes'), node, user: fc.nat({ max: 1 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('sweeps', 'sweeps', 'listens', 'beats', 'sends'), node }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('seems dead', 'fails', 'loses results', 'recovers'), node }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('recovers', 'is killed'), node: fc.constant(0) }) },
)

const COMES: Step[] = [
  { kind: 'opens', node: 0, user: 0 },
  { kind: 'sweeps', node: 0 },
  { kind: 'sends', node: 0 },
  { kind: 'listens', node: 1 },
  { kind: 'sweeps', node: 1 },
]

/** A user leaves a process that is killed before it tells the other, and one whose database fails meanwhile. */
const KNOWN: Step[][] = [
  [...COMES, { kind: 'closes', node: 0, user: 0 }, { kind: 'sweeps', node: 0 }, { kind: 'is killed', node: 0 }],
  [...COMES, { kind: 'closes', node: 0, user: 0 }, { kind: 'fails', node: 0 }, { kind: 'sweeps', node: 0 }],
]

/** A database that fails before a statement is sent, or whose results are lost. */
function createUnsteady(db: Database) {
  let state: 'steady' | 'fails' | 'loses results' = 'steady'
  async function pass<T>(call: () => Promise<T>): Promise<T> {
    if (state === 'fails') throw new Error('The database does not respond')
    const value = await call()
    if (state === 'loses results') throw new Error('The connection was lost')
    return value
  }
  const unsteady: Database = {
    ...db,
    all: (sql, ...params) => pass(() => db.all(sql, ...params)),
    get: (sql, ...params) => pass(() => db.get(sql, ...params)),
    run: (sql, ...params) => pass(() => db.run(sql, ...params)),
    write: (work, options) => pass(() => db.write(work, options)),
    changeToken: () => pass(() => db.changeToken()),
  }
  return {
    db: unsteady,
    become(next: typeof state): void {
      state = next
    },
  }
}

/** A process whose timers never fire: the test decides what it does when. */
function startNode(id: string, storage: Storage) {
  const isApart = storage.signals !== undefined
  const { db, become } = createUnsteady(storage.signals ?? storage.db)
  const config = parseConfig({})
  const metrics = { polled() {}, signalsSent() {}, signalsDropped() {} } as never
  const clock = { ahead: 0 }
  let isKilled = false
  const streams = new Set<string>()
  const shown = new Map<string, string>()
  const hub = {
    countStreams: (userId: string) => Number(streams.has(userId)),
    stalled: { oldestOf: () => undefined },
    isIdle: () => true,
    publishAbout: (_: unknown, { payload }: { payload: { user_id: string; status: string } }) =>
      void shown.set(payload.user_id, payload.status),
  }
  const receiver = createReceiver(id, {
    db,
    usesSignalFile: isApart,
    config,
    log: LOG,
    metrics,
    reload: async () => {},
    noteDetails: async () => {},
  })
  const publisher = createPublisher(id, receiver, { db, isEphemeral: () => true, config, log: LOG, metrics })
  const presence = createPresenceWatch({
    ...{ db: storage.db, kv: storage.kv, hub: hub as never, log: LOG, broadcast_participants: 200, dead_seconds: 10 },
    cluster: { ...receiver, id, db, isApart, isShared: true, announceUsers: publisher.announceUsers } as never,
    now: () => currentMicros() + clock.ahead,
  })
  const neighbour: PeerHandler = {
    ...{ countStreams: () => streams.size, unheardFor: () => 0, receive: async () => {}, endStalled() {} },
    ...{ reconsider: presence.reconsider, meet: presence.renew, renew: presence.renew },
  }
  const held = createClock({ held: currentMicros, isShared: false }, { stepped() {}, trusted() {} })
  const beat = createNodeHeartbeat(id, {
    db,
    clock: held,
    config,
    peerHandler: neighbour,
    noteDetails: async () => {},
    filesState: () => undefined,
  })
  const listens = () => receiver.listen(neighbour)
  const beats = async () => {
    await beat().catch(() => {})
    receiver.recount()
  }
  onTestFinished(() => presence.close())
  return {
    ...{ become, shown, streams, listens, beats, sends: publisher.flush, close: presence.close },
    isKilled: () => isKilled,
    kill(): void {
      isKilled = true
      become('fails')
    },
    change(userId: string, isOpen: boolean): void {
      if (isOpen) streams.add(userId)
      else streams.delete(userId)
      presence.streamsChanged(userId)
    },
    sweeps(): Promise<void> {
      // Who has left is not expected back.
      clock.ahead += 6 * SECOND
      return presence.sweep()
    },
  }
}

describeOnEachDatabase('processes that fail and recover', (openUrl) => {
  const storages: Storage[] = []
  afterEach(async () => {
    vi.useRealTimers()
    for (const storage of storages.splice(0)) await storage.close()
  })

  it('show the same presence in the end, which is the true one', async () => {
    const url = await openUrl()
    for (const _ of IDS) storages.push(await openStorage({ database: url }))
    const shared = storages[0]!.signals ?? storages[0]!.db
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const take = async (nodes: ReturnType<typeof startNode>[], { kind, node: n, ...which }: Step) => {
      const node = nodes[n]!
      if (node.isKilled()) return
      if (kind === 'opens' || kind === 'closes') node.change(USERS[(which as { user: number }).user]!, kind === 'opens')
      else if (kind === 'recovers') node.become('steady')
      else if (kind === 'fails' || kind === 'loses results') node.become(kind)
      else if (kind === 'is killed' || kind === 'seems dead') {
        if (kind === 'is killed') node.kill()
        await shared.run(sql`UPDATE nodes SET beat_at = 0 WHERE id = ${IDS[n]!}`)
      } else await node[kind]()
    }
    const run = async (steps: Step[]) => {
      for (const table of ['nodes', 'node_presence', 'signals']) await shared.run(statement(`DELETE FROM ${table}`))
      const nodes = IDS.map((id, n) => startNode(id, storages[n]!))
      for (const each of [...nodes, ...nodes]) await each.listens()
      // Those that have just met look at everything again after a while.
      for (const each of [...nodes, ...nodes]) await each.sweeps()
      for (const each of steps) await take(nodes, each)
      const living = nodes.filter(({ isKilled }) => !isKilled())
      for (const node of living) node.become('steady')
      for (const _ of times(4, () => 0))
        for (const node of living) {
          await node.beats()
          await node.listens()
          await node.sweeps()
          await node.sends()
        }
      const truth = USERS.map((user) => (living.some(({ streams }) => streams.has(user)) ? 'online' : 'offline'))
      for (const { shown } of living) expect(USERS.map((user) => shown.get(user) ?? 'offline')).toEqual(truth)
      for (const node of nodes) await node.close()
    }
    const steps = fc.array(step, { maxLength: 14 })
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: 150, seed: 1, examples: KNOWN.map((each) => [each]) })
  })
})
