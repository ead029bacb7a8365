import { describe, expect, it } from 'vitest'
import type { ConversationStreamEvent } from '../../../lib/context.ts'
import { type Start, startFrom } from '../../../lib/live/log/event-ids.ts'
import { encode } from '../../../lib/live/readers/delivery.ts'

const EPOCH = '0123456789abcdef'
const refused = (reason: string, seq: number) => ({ resumed: false, seq, reason })

describe('where a stream starts', () => {
  const head = { epoch: EPOCH, first: 5, last: 9 }
  it.each<[string | undefined, object]>([
    [undefined, { resumed: false, seq: 9 }],
    [`${EPOCH}.9`, { resumed: true, seq: 9 }],
    [`${EPOCH}.5`, { resumed: true, seq: 5 }],
    [`${EPOCH}.4`, { resumed: true, seq: 4 }],
    [`${EPOCH}.3`, refused('expired', 9)],
    [`${EPOCH}.0`, refused('expired', 9)],
    [`${EPOCH}.10`, refused('future', 9)],
    [`${EPOCH}.9999999999999999`, refused('future', 9)],
    ['f123456789abcdef.9', refused('unknown', 9)],
    [`${EPOCH}.99999999999999999`, refused('malformed', 9)],
    [`${EPOCH}.09`, refused('malformed', 9)],
    [`${EPOCH}.-9`, refused('malformed', 9)],
    [`${EPOCH}.+9`, refused('malformed', 9)],
    [`${EPOCH}.9\n`, refused('malformed', 9)],
    [` ${EPOCH}.9`, refused('malformed', 9)],
    [`${EPOCH}.٩`, refused('malformed', 9)],
    [`${EPOCH}`, refused('malformed', 9)],
    [`${EPOCH}.`, refused('malformed', 9)],
    ['.9', refused('malformed', 9)],
    ['9', refused('malformed', 9)],
    ['', refused('malformed', 9)],
  ])('for a reader that last saw %j', (id, start) => {
    expect(startFrom(id, head)).toEqual(start)
  })

  it.each<[first: number, last: number, seq: number, resumed: boolean]>([
    [0, 0, 0, true],
    [0, 7, 7, true],
    [0, 7, 6, false],
    [1, 7, 0, true],
  ])('with a log from %i to %i, after %i', (first, last, seq, resumed) => {
    const start: Start = startFrom(`${EPOCH}.${seq}`, { epoch: EPOCH, first, last })
    expect(start.resumed).toBe(resumed)
  })
})

describe('an encoded event', () => {
  const encoded = (event: ConversationStreamEvent, id?: string) =>
    Buffer.from(encode([id === undefined ? { event } : { id, event }]).bytes).toString()
  const event = { type: 'stream.closed', payload: { reason: 'draining' } } as const
  it('has an id only if it is in the log', () => {
    const rest = 'event: stream.closed\ndata: {"type":"stream.closed","payload":{"reason":"draining"}}\n\n'
    expect(encoded(event)).toBe(rest)
    expect(encoded(event, `${EPOCH}.1`)).toBe(`id: ${EPOCH}.1\n${rest}`)
  })

  it('is one line of data, whatever its content', () => {
    const content = 'a\nb\r\nc\rd\u0085e\u2028f\u2029g\0\u001b'
    const frame = encoded({ type: 'stream.reset', payload: { reason: 'unknown', last_event_id: content } })
    const [first, second, ...rest] = frame.split(/\r\n|\n|\r/)
    expect([first, rest]).toEqual(['event: stream.reset', ['', '']])
    expect(JSON.parse(second!.slice('data: '.length)).payload.last_event_id).toBe(content)
  })
})
