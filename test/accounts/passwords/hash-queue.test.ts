import { beforeEach, expect, it } from 'vitest'
import { createHashQueue, type HashCaller } from '../../../lib/accounts/passwords/hash-queue.ts'
import { ChatError } from '../../../lib/index.ts'
import { times } from '../../support/service.ts'

let queue: ReturnType<typeof createHashQueue>
let done: string[]
let finish: () => void

/** Adds a job before those of a test, which runs at once and ends with `finish()`. */
beforeEach(() => {
  queue = createHashQueue(1)
  done = []
  void queue({}, () => new Promise<void>((resolve) => (finish = resolve)))
})

/** The result of a job: `done`, or the code of its refusal. */
function enter(caller: HashCaller, name = caller.user ?? ''): Promise<string> {
  return queue(caller, async () => void done.push(name)).then(
    () => 'done',
    (error: unknown) => (error as ChatError).code,
  )
}

async function countsOf(entries: Promise<string>[]): Promise<Record<string, number>> {
  finish()
  const results = await Promise.all(entries)
  return Object.fromEntries([...new Set(results)].map((each) => [each, results.filter((one) => one === each).length]))
}

const stranger = (i: number): HashCaller => ({ user: `user ${i}`, ip: `192.0.2.${i}` })

it('lets sixteen jobs of one caller wait, from any addresses', async () => {
  const entries = times(120, (i) => enter({ user: 'ada', ip: `192.0.2.${i}` }))
  expect(await countsOf([...entries, enter({ user: 'grace', ip: '192.0.2.1' })])).toEqual({
    unavailable: 104,
    done: 17,
  })
})

it('runs two jobs of one caller at once, and those of others beside them', async () => {
  const wide = createHashQueue(4)
  const started: string[] = []
  const ends: (() => void)[] = []
  const run = (user: string | undefined, ip: string) =>
    wide({ user, ip }, () => {
      started.push(user ?? ip)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const jobs = [...times(18, () => run('ada', '192.0.2.1')), run('grace', '192.0.2.2'), run(undefined, '192.0.2.3')]
  expect(started).toEqual(['ada', 'ada', 'grace', '192.0.2.3'])
  // The caller of the next jobs has its two: the slots of others stay free for others.
  ends[2]!()
  await jobs[18]
  expect(started).toHaveLength(4)
  const late = run('heidi', '192.0.2.4')
  expect(started.at(-1)).toBe('heidi')
  for (let at = 0; at < 21; at++) {
    await expect.poll(() => ends.length).toBeGreaterThan(at)
    ends[at]!()
  }
  await Promise.all([...jobs, late])
  expect(started.filter((each) => each === 'ada')).toHaveLength(18)
})

it.each([
  ['an IPv4 address', () => '192.0.2.1'],
  ['a network of IPv6', (i: number) => `2001:db8:1:2:${i.toString(16)}::1`],
  ['no address', () => undefined],
])('lets sixteen jobs of one network wait: %s', async (_name, ipOf) => {
  const entries = times(40, (i) => enter({ user: `user ${i}`, ip: ipOf(i) }))
  expect(await countsOf([...entries, enter(stranger(200))])).toEqual({ unavailable: 24, done: 17 })
})

it('reserves one of its 64 places for known callers', async () => {
  const strangers = times(100, (i) => enter(stranger(i)))
  const known = [1, 2].map((i) => enter({ user: `known ${i}`, ip: '192.0.2.1', is_known: true }))
  expect(await countsOf([...strangers, ...known])).toEqual({ unavailable: 38, done: 64 })
  expect(done).toContain('known 1')
  expect(done).not.toContain('known 2')
  expect(done.indexOf('known 1')).toBeLessThan(2)
})

it('gives the reserved place to a known caller of a network that has used up its own', async () => {
  const others = times(20, (i) => enter({ user: `user ${i}`, ip: '192.0.2.1' }))
  expect(await countsOf([...others, enter({ user: 'ada', ip: '192.0.2.1', is_known: true })])).toEqual({
    unavailable: 4,
    done: 17,
  })
  expect(done).toContain('ada')
})

it('lets networks take turns', async () => {
  const busy = times(4, (i) => enter({ ip: '192.0.2.1' }, `busy ${i}`))
  const quiet = times(2, (i) => enter({ ip: '192.0.2.2' }, `quiet ${i}`))
  expect(await countsOf([...busy, ...quiet])).toEqual({ done: 6 })
  expect(done).toEqual(['busy 0', 'quiet 0', 'busy 1', 'quiet 1', 'busy 2', 'busy 3'])
})

it('continues after a failed job, and frees its places', async () => {
  const failing = queue({ user: 'ada' }, () => Promise.reject(new Error('no memory'))).catch(String)
  const entries = times(17, () => enter({ user: 'grace', ip: '192.0.2.2' }))
  expect(await countsOf(entries)).toEqual({ done: 16, unavailable: 1 })
  expect(await failing).toBe('Error: no memory')
  expect(await enter({ user: 'grace' })).toBe('done')
})

it('returns when to retry', async () => {
  const entries = times(17, () => queue({ user: 'ada' }, async () => {}))
  const error = await entries[16]!.catch((each: unknown) => each)
  expect(error).toBeInstanceOf(ChatError)
  expect((error as ChatError).retry_after_seconds).toBe(5)
  finish()
  await Promise.all(entries.slice(0, 16))
})
