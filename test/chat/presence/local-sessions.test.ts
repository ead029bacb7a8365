import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createLocalSessions } from '../../../lib/chat/presence/local-sessions.ts'
import { DAY, SECOND } from '../../../lib/core/units.ts'

afterEach(() => void vi.restoreAllMocks())

it.each([400 * DAY, 20 * SECOND])(
  'a user who left while the clock was ahead by %i leaves five seconds after its step back',
  (step) => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    let at = 1_000 * DAY + step
    const changed: string[] = []
    const sessions = createLocalSessions(
      () => at,
      (userId) => changed.push(userId),
    )
    onTestFinished(sessions.close)
    sessions.count('ada', 1)
    sessions.count('ada', 0)
    at -= step
    sessions.endDue()
    expect(sessions.userIds()).toEqual(['ada'])
    at += 5 * SECOND
    sessions.endDue()
    expect(sessions.userIds()).toEqual([])
    expect(changed).toEqual(['ada', 'ada'])
    // A longer delay than Node can count would be none.
    expect(Math.max(...timers.mock.calls.map(([, ms = 0]) => ms))).toBeLessThanOrEqual(5_000)
  },
)
