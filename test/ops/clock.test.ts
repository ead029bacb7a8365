import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { currentMicros } from '../../lib/core/time.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/core/units.ts'
import { trustClock } from '../../lib/ops/clock.ts'
import { readClockNotes, readCommandClock } from '../../lib/storage/clock-notes.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, innerState, type Person, startService, startThread, type TestService } from '../support/service.ts'

/** The clock of this machine; the monotonic clock, and the clock of PostgreSQL, go on. */
function stepClock(micros: number): void {
  const to = currentMicros() + micros
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(to / 1000)
}

const TABLES = ['sessions', 'audit_log', 'events', 'invites', 'known_devices', 'idempotency_keys']

async function countRows({ chat }: TestService): Promise<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const table of TABLES)
    sums[table] = Number(
      (await innerState(chat).db.get<{ n: number }>(statement(`SELECT count(*) AS n FROM ${table}`)))!.n,
    )
  return sums
}

describeOnEachDatabase('a clock that steps', (openUrl, dialect) => {
  afterEach(() => void vi.useRealTimers())

  async function start(url: string) {
    const lines: string[] = []
    const add = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
    const log = { debug() {}, info: add('info'), warn: add('warn'), error: add('error') }
    const service = await startService(url, { ports: { log } })
    onTestFinished(() => service.close())
    const told = () => lines.filter((line) => /clock/i.test(line))
    return { service, ctx: innerState(service), told }
  }

  /** One of what a service deletes by age. */
  async function fill(service: TestService): Promise<Person> {
    const { ada, conversation_id } = await startThread(service)
    await ada.messages.postRoot(conversation_id, { content: 'Twice' }, { headers: { 'idempotency-key': 'twice' } })
    await ada.invites.create(conversation_id, { role: 'member' })
    return ada
  }

  it('deletes nothing by age while it runs, and ends no session', async () => {
    const { service, ctx, told } = await start(await openUrl())
    const owner = await fill(service)
    const before = await countRows(service)
    stepClock(400 * DAY)
    await service.chat.ops.prune()
    expect((await owner.auth.me()).user.id).toBe(owner.id)
    expect(await countRows(service)).toEqual(before)
    const ended = await ctx.db.all(sql`SELECT id FROM sessions WHERE idle_expires_at = 0`)
    expect(ended).toEqual([])
    // The clock of PostgreSQL is another one, with which the service stays right.
    if (dialect === 'postgresql') {
      expect(currentMicros() - ctx.now()).toBeGreaterThan(399 * DAY)
      // A heartbeat may already have reported the difference.
      return expect(told().filter((line) => /has stepped/.test(line))).toEqual([])
    }
    expect(told()).toEqual([expect.stringMatching(/^warn The clock has stepped: it is 400 days ahead\. Nothing is/)])
    await ctx.ops.clockKeeper.check()
    const { record, note } = await readClockNotes(ctx.db)
    expect(Math.round(record!.step / DAY)).toBe(400)
    expect(note).toBeLessThan(currentMicros() - 399 * DAY)
    expect((await readCommandClock(ctx.db)).doubt).toMatch(/running service does not trust it/)
    expect(await service.chat.ops.metrics(null as never)).toMatch(/^chat_clock_step_seconds 34\d{6}(\.\d+)?$/m)
  })

  it.runIf(dialect === 'sqlite')('is over when an operator declares the clock as right', async () => {
    const { service, ctx, told } = await start(await openUrl())
    const owner = await fill(service)
    stepClock(400 * DAY)
    await ctx.ops.clockKeeper.check()
    await trustClock(ctx)
    await ctx.ops.clockKeeper.check()
    expect(told().at(-1)).toMatch(/^info The clock is trusted again/)
    expect(await codeOf(owner.auth.me())).toBe('session_expired')
    expect((await service.chat.ops.prune()).sessions).toBeGreaterThan(0)
    expect((await readClockNotes(ctx.db)).record).toBeUndefined()
  })

  it.runIf(dialect === 'sqlite')('keeps the order of messages when it is set back, and the later times', async () => {
    const { service, told } = await start(await openUrl())
    const { ada, conversation_id } = await startThread(service)
    stepClock(3 * DAY)
    const ahead = await ada.messages.postRoot(conversation_id, { content: 'Ahead' })
    stepClock(-3 * DAY)
    const after = await ada.messages.postRoot(conversation_id, { content: 'After' })
    const times = await Promise.all([ahead, after].map(({ message_id }) => ada.messages.get(message_id)))
    expect(times[1]!.created_at > times[0]!.created_at).toBe(true)
    await innerState(service).ops.clockKeeper.check()
    expect(told().at(-1)).toMatch(/^info The clock shows the right time again.+keep it$/)
  })

  it('is found at a start by the last note, which stays until the clock is trusted', async () => {
    const url = await openUrl()
    const { service, ctx } = await start(url)
    const owner = await fill(service)
    const before = await countRows(service)
    const seen = currentMicros() - 3 * DAY
    await ctx.db.run(sql`UPDATE meta SET value = ${String(seen)} WHERE name = 'clock_seen_at'`)
    // Sessions are judged by the clock as it is; only the mark of their end is left out.
    await ctx.db.run(sql`UPDATE sessions SET idle_expires_at = ${currentMicros() - HOUR}`)
    const second = await start(url)
    expect(second.told()).toEqual([expect.stringMatching(/^warn The clock has stepped: it is 3 days ahead/)])
    await second.service.chat.ops.prune()
    expect(await countRows(service)).toEqual(before)
    const session = await second.ctx.db.get<{ n: number }>(
      sql`SELECT count(*) AS n FROM sessions WHERE idle_expires_at = 0`,
    )
    expect(Number(session!.n)).toBe(0)
    await second.ctx.ops.clockKeeper.check()
    const { note, record } = await readClockNotes(ctx.db)
    expect([note, Math.round(record!.step / HOUR)]).toEqual([seen, 72])
    expect(owner.id).toBeTruthy()
  })

  it('is trusted in a database without a note, as after an upgrade, which then gets one', async () => {
    const url = await openUrl()
    const { ctx } = await start(url)
    await ctx.db.run(sql`DELETE FROM meta WHERE name = 'clock_seen_at'`)
    const { ctx: other, told } = await start(url)
    expect([other.clock.step(), told()]).toEqual([0, []])
    expect(Math.abs((await readClockNotes(ctx.db)).note! - currentMicros())).toBeLessThan(MINUTE)
  })
})

describeOnEachDatabase('the clock of a node', (openUrl, dialect) => {
  afterEach(() => void vi.useRealTimers())

  it.runIf(dialect === 'postgresql')('is reported as wrong only while another node has the right one', async () => {
    const lines: string[] = []
    const told = (message: string) => void lines.push(message)
    const log = { debug() {}, info: told, error() {}, warn: told }
    const service = await startService(await openUrl(), { ports: { log }, config: { cluster: { beat_seconds: 1 } } })
    onTestFinished(() => service.close())
    const context = innerState(service)
    const { db } = context
    const { readiness } = context.ops
    stepClock(120 * SECOND)
    await vi.waitUntil(() => lines.length > 0, { timeout: 30_000 })
    expect(lines[0]).toMatch(/is 2 minutes ahead of the clock of the database/)
    expect(await readiness.failures()).toEqual([])
    // With the same difference it is the clock of the database that is wrong.
    const add = (id: string, difference: number) =>
      db.run(
        sql`INSERT INTO nodes (id, started_at, beat_at, version, streams, clock_difference)
         VALUES (${id}, 0, (extract(epoch FROM clock_timestamp()) * 1000000 + 3600000000)::bigint, '0', 0, ${difference})`,
      )
    await add('as-wrong', -120 * SECOND)
    const isFailing = async () => (await readiness.failures()).includes('clock')
    expect(await isFailing()).toBe(false)
    await add('right', SECOND)
    await vi.waitUntil(isFailing, { timeout: 30_000 })
    const page = await service.chat.ops.metrics(null as never)
    expect(page).toMatch(/^chat_clock_difference_seconds -1(19|20)(\.\d+)?$/m)
    expect(page).toMatch(/^chat_clock_step_seconds 0$/m)
    stepClock(-120 * SECOND)
    await vi.waitUntil(async () => !(await isFailing()), { timeout: 30_000 })
    expect(lines.filter((line) => /agrees/.test(line))).toEqual([
      'The clock of this machine agrees with the clock of the database again',
    ])
  })
})

it('is not looked for when the host has a clock of its own', async () => {
  let now = currentMicros()
  const service = await startService('sqlite::memory:', { ports: { now: () => now } })
  onTestFinished(() => service.close())
  now += 400 * DAY
  const { clock, db } = innerState(service)
  const { clockKeeper } = innerState(service).ops
  await clockKeeper.check()
  expect([clock.step(), clock.before(0)]).toEqual([0, now])
  expect(await readClockNotes(db)).toEqual({ note: undefined, record: undefined })
})
