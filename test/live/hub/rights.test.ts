import { expect, it, onTestFinished, vi } from 'vitest'
import type { CloseReason } from '../../../lib/context.ts'
import { createRights } from '../../../lib/live/hub/rights.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'

/** Rights of streams whose sessions expire at these times; a look-up renews a session by 100, unless it is to end. */
function start(expiries: number[]) {
  const readers = new Set(expiries.map((expires_at, n) => ({ user_id: `user-${n}`, expires_at }) as Reader))
  const clock = { now: 0 }
  const looks = { all: 0, at: [] as string[][] }
  const ended = new Set<string>()
  const closed: string[] = []
  const failures: Error[] = []
  let held: Promise<void> | undefined
  const rights = createRights({
    streams: {
      all: () => {
        looks.all++
        return readers
      },
      ofUser: (id) => new Set([...readers].filter(({ user_id }) => user_id === id)),
      ofConversation: () => new Set(),
    },
    findRefusals: async (suspects) => {
      const [failure] = failures.splice(0, 1)
      if (failure) throw failure
      looks.at.push(suspects.map(({ user_id }) => user_id))
      for (const reader of suspects) if (reader.expires_at < clock.now) reader.expires_at = clock.now + 100
      const refusals = suspects
        .filter(({ user_id }) => ended.has(user_id))
        .map((each): [Reader, CloseReason] => [each, 'removed'])
      await held
      return refusals
    },
    close: (reader) => {
      closed.push(reader.user_id)
      readers.delete(reader)
    },
    advance: () => undefined,
    now: () => clock.now,
  })
  /** Delays the results of look-ups until the function returned is called. */
  function hold(): () => void {
    let release = () => {}
    held = new Promise((resolve) => (release = resolve))
    return release
  }
  return { rights, clock, looks, ended, closed, failures, hold, known: () => rights.recheckConcerned([{}] as never) }
}

it('are looked up when a session may have expired, and only those of such sessions', async () => {
  const { rights, clock, looks, known } = start([50, 200])
  await known()
  clock.now = 60
  await rights.recheckExpired()
  expect(looks.at.slice(1)).toEqual([['user-0']])
  clock.now = 210
  await rights.recheckExpired()
  expect(looks.at.slice(2)).toEqual([['user-0', 'user-1']])
})

it('cost nothing for open streams until the first session may have expired', async () => {
  const { rights, clock, looks, known } = start([50, 200])
  await known()
  const before = looks.all
  for (clock.now = 0; clock.now <= 50; clock.now++) await rights.recheckExpired()
  expect(looks.all).toBe(before)
  clock.now = 60
  await rights.recheckExpired()
  const after = looks.all
  for (clock.now = 61; clock.now <= 160; clock.now++) await rights.recheckExpired()
  expect([looks.all, looks.at.length]).toEqual([after, 2])
})

it('are looked up again after a failure, and end the streams that they no longer permit', async () => {
  const { rights, clock, ended, closed, failures, known } = start([50, 200])
  await known()
  clock.now = 60
  ended.add('user-0')
  failures.push(new Error('the storage fails'))
  await expect(rights.recheckExpired()).rejects.toThrow('the storage fails')
  expect(closed).toEqual([])
  await rights.recheckExpired()
  expect(closed).toEqual(['user-0'])
})

it('are looked up again for a delivery that begins while a look-up takes longer than they may be old', async () => {
  const { rights, ended, closed, hold } = start([1_000])
  let at = 10_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => at)
  onTestFinished(() => clock.mockRestore())
  const release = hold()
  const first = rights.refresh()
  at += 3_000
  // The look-up in progress has read before.
  ended.add('user-0')
  const second = rights.refresh()
  release()
  await first
  expect(closed).toEqual([])
  await second
  expect(closed).toEqual(['user-0'])
})
