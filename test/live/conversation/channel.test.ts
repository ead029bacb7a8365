import { describe, expect, it } from 'vitest'
import { createChannel } from '../../../lib/live/conversation/channel.ts'
import type { NumberedEvent } from '../../../lib/live/log/log.ts'
import { withActivities } from '../../../lib/live/readers/delivery.ts'

const conversation_id = '01980a3c-7000-7a10-8b20-0c4f1d2e3a43'

function line(seq: number): NumberedEvent {
  const payload = { conversation_id, user_id: `${seq}`, action: 'added' as const, role: 'member' as const }
  return { seq, conversation_id, at: seq, event: { type: 'membership.changed', payload } }
}

/** A channel that follows a log of these lines from its beginning, and the numbers that it delivers. */
function follow(...log: NumberedEvent[]) {
  const delivered: number[] = []
  const measured: string[] = []
  let isFailing = false
  const source = {
    head: async () => ({ epoch: 'e', first: 1, last: 0 }),
    async read(after: number, limit: number) {
      if (isFailing) throw new Error('The database does not respond')
      const lines = log.filter(({ seq }) => seq > after).slice(0, limit)
      return { lines, isLast: lines.length < limit }
    },
  }
  const channel = createChannel(source, {
    complete: withActivities,
    deliver({ events }, origin) {
      delivered.push(...events.map(({ seq }) => seq!))
      measured.push(origin?.since === undefined ? 'other' : 'own')
    },
    beforeDelivery: () => undefined,
  })
  const fail = (isNow: boolean) => {
    isFailing = isNow
  }
  return { channel, delivered, measured, fail }
}

describe('a channel', () => {
  it('delivers what it was given without reading it', async () => {
    const { channel, delivered } = follow()
    await channel.advance([line(1)])
    expect(delivered).toEqual([1])
  })

  it.each([
    ['after', [[line(1)], []]],
    ['before', [[], [line(1)]]],
  ])('delivers what must be read when that was committed just %s events that it was given', async (_, commits) => {
    const { channel, delivered } = follow(line(1), line(2))
    await Promise.all(commits.map((events) => channel.advance(events)))
    expect(delivered).toEqual([1, 2])
  })

  it('delivers what it was given once, and after the events before it', async () => {
    const { channel, delivered } = follow(line(1), line(2))
    await Promise.all([channel.advance([line(2)]), channel.advance([line(1)])])
    await channel.advance()
    expect(delivered).toEqual([1, 2])
  })

  it('delivers each event once, in order, when very many are committed while it reads the log', async () => {
    const all = Array.from({ length: 5_000 }, (_, n) => line(n + 1))
    const { channel, delivered } = follow(...all)
    const advances = [channel.advance(), ...all.map((each) => channel.advance([each]))]
    await Promise.all([...advances, channel.advance(all.slice(0, 10))])
    expect(delivered).toEqual(all.map(({ seq }) => seq))
  })

  it.each([
    ['one', 65],
    ['the last one', 70],
  ])('delivers all that others have committed behind a page, %s of which it was given meanwhile', async (_, seq) => {
    const all = Array.from({ length: 70 }, (_, n) => line(n + 1))
    const { channel, delivered } = follow(...all)
    await Promise.all([channel.advance(), channel.advance([line(seq)])])
    expect(delivered).toEqual(all.map(({ seq }) => seq))
  })

  it('delivers what others have committed behind a page, before and after what it was given', async () => {
    const all = Array.from({ length: 70 }, (_, n) => line(n + 1))
    const { channel, delivered } = follow(...all)
    await channel.advance([line(65)])
    expect(delivered).toEqual(all.map(({ seq }) => seq))
  })

  it('delivers what others have committed between what it was given at once', async () => {
    const { channel, delivered } = follow(line(1), line(2), line(3))
    await Promise.all([channel.advance([line(1)]), channel.advance([line(3)])])
    expect(delivered).toEqual([1, 2, 3])
  })

  it('delivers what it could not read together with what it is given next', async () => {
    const { channel, delivered, fail } = follow(line(1), line(2))
    fail(true)
    await expect(channel.advance()).rejects.toThrow('does not respond')
    fail(false)
    await channel.advance([line(1)])
    expect(delivered).toEqual([1, 2])
  })

  it('tells what this process has committed from what another one has', async () => {
    const { channel, measured } = follow(line(1), line(2), line(3))
    await channel.advance([line(1)])
    // Of this process, and without events: they must be read.
    await channel.advance([])
    expect(measured).toEqual(['own', 'own'])
    const other = follow(line(1), line(2))
    // The first one is of another process.
    await other.channel.advance([line(2)])
    await other.channel.advance()
    expect(other.measured).toEqual(['other'])
  })
})
