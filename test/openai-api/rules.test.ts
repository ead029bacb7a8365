import { expect, it } from 'vitest'
import { ChatError } from '../../lib/core/errors.ts'
import { echo, echoInPieces, toCompatFailure } from '../../lib/openai-api/rules.ts'
import type { CompletionMessage } from '../../lib/openai-api/schema.ts'

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'gpt-4' }
const messagesOf = (...contents: CompletionMessage['content'][]) => ({
  model: 'gpt-4',
  messages: contents.map((content) => ({ role: 'user' as const, content })),
})

it.each<[content: CompletionMessage['content'], echoed: string | null]>([
  ['hello', 'hello'],
  ['', ''],
  [null, null],
  [undefined, null],
  [[], ''],
  [[{ type: 'text', text: 'one ' }, { type: 'image_url' }, { type: 'text', text: 'two' }], 'one two'],
])('echoes %j as %j, whole and in chunks', (content, echoed) => {
  expect(echo(HEAD, messagesOf(content)).choices).toEqual([
    { index: 0, message: { role: 'assistant', content: echoed }, finish_reason: 'stop' },
  ])
  const deltas = [...echoInPieces(HEAD, messagesOf(content))].map((chunk) => chunk.choices[0]!.delta)
  expect(deltas[0]).toEqual({ role: 'assistant', content: echoed && '' })
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe(echoed ?? '')
})

it.each([
  ['Hello there, how are you?', ['Hello there, how are you?']],
  ['Hello there, '.repeat(8), [`${'Hello there, '.repeat(4)}Hello there,`, ' Hello there, Hello there, Hello there, ']],
  ['x'.repeat(300), ['x'.repeat(64), 'x'.repeat(64), 'x'.repeat(64), 'x'.repeat(108)]],
  ['one\r\n\r\ntwo\n', ['one\r\n\r\ntwo\n']],
  ['\u{1F600}'.repeat(130), ['\u{1F600}'.repeat(64), '\u{1F600}'.repeat(66)]],
])('cuts %j between words where it can, and never inside a character', (content, pieces) => {
  const chunks = [...echoInPieces(HEAD, messagesOf(content))]
  expect(chunks.slice(1, -1).map((chunk) => chunk.choices[0]!.delta.content)).toEqual(pieces)
})

it('streams one choice after the other, and the usage if requested', () => {
  const input = { ...messagesOf('a', null), stream_options: { include_usage: true } }
  const head = { ...HEAD, object: 'chat.completion.chunk' }
  const choice = (index: number, delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index, delta, finish_reason }],
    usage: null,
  })
  expect([...echoInPieces(HEAD, input)]).toEqual([
    choice(0, { role: 'assistant', content: '' }),
    choice(0, { content: 'a' }),
    choice(0, {}, 'stop'),
    choice(1, { role: 'assistant', content: null }),
    choice(1, {}, 'stop'),
    { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ])
})

it('counts four characters as a token, for each message separately', () => {
  const { usage } = echo(HEAD, messagesOf('12345', '1', '', null))
  expect(usage).toEqual({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 })
})

it.each([
  [new ChatError('not_found'), { type: 'invalid_request_error', param: null, code: 'not_found' }],
  [new ChatError('internal'), { type: 'server_error', param: null, code: 'internal' }],
  [
    new ChatError('validation_failed', {
      message: 'No.',
      errors: [
        { path: 'messages[0].role', message: 'is wrong' },
        { path: '', message: 'is odd' },
      ],
    }),
    {
      message: 'No. messages[0].role: is wrong; is odd',
      type: 'invalid_request_error',
      param: 'messages[0].role',
      code: 'validation_failed',
    },
  ],
])("returns %s in OpenAI's format", (error, expected) => {
  expect(toCompatFailure(error)).toEqual({ error: { message: error.message, ...expected } })
})
