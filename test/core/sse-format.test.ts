import { describe, expect, it } from 'vitest'
import {
  createEventReader,
  createLineReader,
  formatComment,
  formatEvent,
  formatRetry,
  isEventStream,
  parseField,
  type WireEvent,
} from '../../lib/core/sse-format.ts'

describe('a reader of lines', () => {
  it('escapes the line ends of Unicode, which only texts of JSON have', () => {
    const value = { '\u2028': 'a\u0085b\u2028c\u2029\n\\u2028', é: '\u0084\u0086\u2027\u202a' }
    const text = formatEvent({ data: JSON.stringify(value) })
    expect(text).not.toMatch(/[\u0085\u2028\u2029]/)
    expect(text).toContain('\u0084\u0086\u2027\u202a')
    expect(JSON.parse(text.slice('data: '.length))).toEqual(value)
  })

  it.each([
    ['text/event-stream', true],
    ['text/event-stream; charset=utf-8', true],
    ['TEXT/EVENT-STREAM;charset=UTF-8', true],
    ['text/event-streams', false],
    ['application/json', false],
  ])('takes a response of %s for an event stream: %s', (type, is) => {
    expect(isEventStream(new Response('', { headers: { 'content-type': type } }))).toBe(is)
  })

  it.each([
    ['LF', ['a\nb\n\nc\n'], ['a', 'b', '', 'c']],
    ['CRLF', ['a\r\nb\r\n\r\nc\r\n'], ['a', 'b', '', 'c']],
    ['CR', ['a\rb\r\rc\r'], ['a', 'b', '', 'c']],
    ['a CRLF that is cut in two', ['a\r', '\nb\r', '', '\n'], ['a', 'b']],
    ['a CR before an empty line', ['a\r', '\r\n', '\n'], ['a', '', '']],
    ['lines that are cut anywhere', ['a', 'b\nc', 'd', '\n', 'rest'], ['ab', 'cd']],
  ])('reads %s', (_, chunks, lines) => {
    const read = createLineReader(10)
    expect(chunks.flatMap(read)).toEqual(lines)
  })

  it.each([
    ['that goes on', ['12345', '67890', '1']],
    ['that has just ended', ['12345678901\n']],
    ['between others', ['a\n12345678901\nb']],
  ])('refuses a line over its limit %s', (_, chunks) => {
    const read = createLineReader(10)
    expect(() => chunks.flatMap(read)).toThrow(RangeError)
  })

  it('takes any number of lines up to its limit', () => {
    const read = createLineReader(10)
    expect(read('1234567890\n'.repeat(1_000))).toHaveLength(1_000)
  })
})

it.each([
  ['data: x', ['data', 'x']],
  ['data:x', ['data', 'x']],
  ['data:  x', ['data', ' x']],
  ['data: a: b', ['data', 'a: b']],
  ['data', ['data', '']],
  [': a comment', ['', 'a comment']],
])('reads the field of %j', (line, field) => {
  expect(parseField(line)).toEqual(field)
})

describe('a reader of events', () => {
  it('reads what is written', () => {
    const events: WireEvent[] = [
      { id: 'a.1', type: 'message.new', data: '{"text":"grüß 🥊"}' },
      { type: 'presence.update', data: '{}' },
    ]
    const waits: number[] = []
    const read = createEventReader(100, (ms) => waits.push(ms))
    const text = [formatRetry(2_000), ...events.map(formatEvent), formatComment('keep-alive')].join('')
    expect([...text].flatMap(read)).toEqual(events)
    expect(waits).toEqual([2_000])
  })

  it('takes an event without a type for a message', () => {
    expect(createEventReader(100)(formatEvent({ data: '[DONE]' }))).toEqual([{ type: 'message', data: '[DONE]' }])
  })

  it('refuses an event whose lines together are over its limit', () => {
    const read = createEventReader(20)
    expect(() => read('data: 1234567890\n'.repeat(3))).toThrow(RangeError)
  })

  it('takes any number of events up to its limit', () => {
    expect(createEventReader(20)('data: 1234567890\n\n'.repeat(1_000))).toHaveLength(1_000)
  })
})
