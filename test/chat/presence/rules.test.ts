import { describe, expect, it } from 'vitest'
import { type LastSeen, presenceFrom } from '../../../lib/chat/presence/rules.ts'

const NOW = 1_000_000_000
const ago = (seconds: number) => NOW - seconds * 1_000_000
const says = (status: 'online' | 'away' | 'offline', seconds: number): LastSeen => ({
  heartbeat: { status, at: ago(seconds) },
  seen_at: ago(seconds),
})

describe('the status of a user', () => {
  it.each<[string, LastSeen[], string]>([
    ['unknown', [], 'offline'],
    ['known, without a stream or a heartbeat', [{ seen_at: ago(1) }], 'offline'],
    ['with a stream', [{ since: ago(1) }], 'online'],
    ['with a heartbeat', [says('away', 59.9)], 'away'],
    ['with a heartbeat that has lapsed', [says('away', 60)], 'offline'],
    ['with a stream, away since before it was opened', [says('away', 69), { since: ago(10) }], 'away'],
    ['with a stream, away long before it was opened', [says('away', 70), { since: ago(10) }], 'online'],
    ['with a stream, away long ago', [says('away', 1_000), { since: ago(2_000) }], 'away'],
    ['with a stream here, away there', [{ since: ago(2_000) }, says('away', 1_000)], 'away'],
    ['with two heartbeats: the later one counts', [says('online', 1), says('offline', 2)], 'online'],
    ['with two streams: the first one counts', [{ since: ago(900) }, { since: ago(1) }, says('away', 100)], 'away'],
    ['with a heartbeat of a clock that was ahead', [says('away', -61)], 'offline'],
    ['invisible, with a stream', [says('offline', 5), { since: ago(10) }], 'offline'],
  ])('%s', (_, sightings, status) => {
    expect(presenceFrom(sightings, NOW).status).toBe(status)
  })

  it('was not last seen by a clock that was ahead', () => {
    expect(presenceFrom([says('away', 90), { seen_at: ago(-86_400) }], NOW).last_seen_at).toBe(ago(90))
  })

  it('has the time at which the user was last seen, anywhere', () => {
    expect(presenceFrom([], NOW)).toEqual({ status: 'offline' })
    expect(presenceFrom([says('away', 90), { since: ago(5) }, { seen_at: ago(7) }], NOW).last_seen_at).toBe(ago(5))
  })
})
