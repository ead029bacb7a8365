import { afterEach, expect, it, vi } from 'vitest'
import { createLogins } from '../../../lib/live/hub/logins.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'
import { times } from '../../support/service.ts'

// The deadline of a question never comes.
afterEach(() => void vi.useRealTimers())

/** Streams of different people, whose host never answers. */
function hangingLogins(count: number) {
  vi.useFakeTimers()
  const asked: string[] = []
  const readers = times(count, (i) => {
    const subject = `p${i}`
    const ask = () => {
      asked.push(subject)
      return new Promise<boolean>(() => {})
    }
    return { login: { at: 0, host: { subject, ask } }, closed: false } as unknown as Reader
  })
  return { readers, asked, logins: createLogins({ all: () => readers, close: () => {} }) }
}

it('a stop ends a round of questions, however slow the host is, and nothing more is asked', async () => {
  const { asked, logins } = hangingLogins(40)
  const round = logins.recheck()
  expect(asked).toHaveLength(16)
  logins.stop()
  await round
  await logins.recheck()
  expect(asked).toHaveLength(16)
})

it('the host is not asked about streams that were closed meanwhile', async () => {
  const { readers, asked, logins } = hangingLogins(18)
  const round = logins.recheck()
  for (const reader of readers.slice(16)) reader.closed = true
  await vi.advanceTimersByTimeAsync(5_000)
  await round
  expect(asked).toEqual(times(16, (i) => `p${i}`))
})
