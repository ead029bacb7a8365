import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { createPublisher } from '../../lib/cluster/publisher.ts'
import { openStorage, parseConfig } from '../../lib/index.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'
import { createSqliteFile } from '../support/databases.ts'

afterEach(() => void vi.useRealTimers())

it('gathers what a bus does not take, as without a bus', async () => {
  const { url, remove } = await createSqliteFile()
  const storage = await openStorage({ database: url })
  await storage.migrate()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const publisher = createPublisher(
    'here',
    { isSingleNode: () => false, isNode: () => true },
    {
      db: storage.signals!,
      bus: { publish: () => Promise.reject(new Error('The bus is down')), subscribe() {}, close() {} },
      isEphemeral: () => true,
      config: parseConfig({}),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      metrics: { signalsSent() {}, signalsDropped() {} } as never,
    },
  )
  const rows = () => storage.signals!.all<{ body: string }>(sql`SELECT body FROM signals`)
  for (let n = 0; n < 10; n++) {
    const payload = { conversation_id: 'c', user_id: `${n}`, expires_at: '2026-01-01T00:00:00.000Z' }
    publisher.announce([{ conversation_id: 'c', event: { type: 'typing.update', payload } }])
    await vi.advanceTimersByTimeAsync(2)
  }
  expect(await rows()).toEqual([])
  await publisher.flush()
  const [row, ...others] = await rows()
  expect(others).toEqual([])
  expect(JSON.parse(row!.body).events).toHaveLength(10)
  vi.useRealTimers()
  await publisher.close()
  await storage.close()
  await remove()
})

type Mode = 'works' | 'fails' | 'hangs'

type Step =
  | { kind: 'event'; subject: number }
  | { kind: 'user'; user: number }
  | { kind: 'time'; ms: number }
  | { kind: 'bus'; mode: Mode }
  | { kind: 'database'; mode: Exclude<Mode, 'hangs'> }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('event' as const), subject: fc.nat({ max: 4 }) }),
  fc.record({ kind: fc.constant('user' as const), user: fc.nat({ max: 4 }) }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1, 10, 60, 1_200, 5_100) }),
  fc.record({ kind: fc.constant('bus' as const), mode: fc.constantFrom<Mode>('works', 'fails', 'hangs') }),
  fc.record({ kind: fc.constant('database' as const), mode: fc.constantFrom('works' as const, 'fails' as const) }),
)

/** A bus and a database that work, fail or hang in turn; a call that hangs succeeds when the bus works again. */
function createUnsteady() {
  const modes: { bus: Mode; database: Mode } = { bus: 'works', database: 'works' }
  const bodies = { bus: [] as string[], database: [] as string[] }
  const hanging: (() => void)[] = []
  return {
    bodies,
    set(which: 'bus' | 'database', mode: Mode): void {
      modes[which] = mode
      if (which === 'bus' && mode === 'works') for (const succeed of hanging.splice(0)) succeed()
    },
    async publish(bytes: Uint8Array): Promise<void> {
      if (modes.bus === 'fails') throw new Error('The bus is down')
      if (modes.bus === 'hangs') await new Promise<void>((resolve) => hanging.push(resolve))
      bodies.bus.push(new TextDecoder().decode(bytes).slice('chat-server 1 here '.length))
    },
    async run({ params }: Sql): Promise<number> {
      if (modes.database === 'fails') throw new Error('The database does not respond')
      bodies.database.push(String(params[1]))
      return 1
    },
  }
}

it('passes the latest event of each subject on, and each user, or counts it as dropped, whatever fails when', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
  const run = async (steps: Step[]) => {
    const { bodies, set, publish, run } = createUnsteady()
    let dropped = 0
    const publisher = createPublisher(
      'here',
      { isSingleNode: () => false, isNode: () => true },
      {
        db: { dialect: 'sqlite', run } as never,
        bus: { publish, subscribe() {}, close() {} },
        isEphemeral: () => true,
        config: parseConfig({}),
        log: { debug() {}, info() {}, warn() {}, error() {} },
        metrics: {
          signalsSent() {},
          signalsDropped(count: number) {
            dropped += count
          },
        } as never,
      },
    )
    const latest = new Map<number, number>()
    const users = new Set<string>()
    const announce = (subject: number, n: number) => {
      latest.set(subject, n)
      const payload = { conversation_id: 'c', user_id: `${subject}`, expires_at: `${n}` }
      publisher.announce([{ conversation_id: 'c', event: { type: 'typing.update', payload } }])
    }
    for (const [n, each] of steps.entries()) {
      if (each.kind === 'event') announce(each.subject, n)
      else if (each.kind === 'time') await vi.advanceTimersByTimeAsync(each.ms)
      else if (each.kind === 'user') {
        users.add(`${each.user}`)
        publisher.announceUsers([`${each.user}`])
      } else set(each.kind, each.mode)
    }
    set('bus', 'works')
    set('database', 'works')
    await vi.advanceTimersByTimeAsync(10_000)
    const sent = (which: 'bus' | 'database') => bodies[which].map((body) => JSON.parse(body))
    const eventsOf = (which: 'bus' | 'database') => sent(which).flatMap(({ events }) => events)
    const arrived = new Set([...eventsOf('bus'), ...eventsOf('database')].map(({ event }) => event.payload.expires_at))
    const missing = [...latest.values()].filter((n) => !arrived.has(`${n}`))
    expect(missing.length).toBeLessThanOrEqual(dropped)
    expect(new Set(sent('database').flatMap(({ user_ids }) => user_ids))).toEqual(users)
    // It uses the bus again.
    announce(0, steps.length)
    await vi.advanceTimersByTimeAsync(5)
    expect(eventsOf('bus').map(({ event }) => event.payload.expires_at)).toContain(`${steps.length}`)
    await publisher.close()
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), run), { numRuns: 200, seed: 1 })
})
