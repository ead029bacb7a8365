import { afterEach, expect, it, vi } from 'vitest'
import { askAboutAnswer } from '../../../lib/chat/hooks/after-answer.ts'
import type { Message } from '../../../lib/client/index.ts'
import type { Hooks, Log } from '../../../lib/index.ts'

afterEach(() => vi.useRealTimers())

const MESSAGE = { id: 'answer', content: 'Because.' } as Message
const UNCHECKED = 'The application could not check this in time.'

function ask(afterAnswer: unknown, failure?: Hooks['failure']) {
  const errors: unknown[] = []
  const log = { error: (text: string, fields: unknown) => errors.push([text, fields]) } as unknown as Log
  const hooks = { afterAnswer, ...(failure && { failure }) } as Hooks
  return { verdict: askAboutAnswer({ log, host: { hooks } }, MESSAGE), errors }
}

it.each([
  ['nothing', () => undefined, undefined],
  ['null', () => null, undefined],
  ['a withdrawal', () => ({ withdraw: 'No.' }), 'No.'],
  ['a withdrawal without words', async () => ({ withdraw: '' }), ''],
  ['a long withdrawal', () => ({ withdraw: 'x'.repeat(501) }), 'x'.repeat(500)],
])('takes %s for the verdict of the host about an answer', async (_, hook, expected) => {
  const { verdict, errors } = ask(hook)
  expect([await verdict, errors]).toEqual([expected, []])
})

it.each([
  ['throws', () => Promise.reject(new Error('broken')), 'broken'],
  ['returns a text', () => 'No.', 'expected shape'],
  ['returns another name', () => ({ refuse: 'No.' }), 'expected shape'],
  ['returns no text', () => ({ withdraw: true }), 'expected shape'],
])('withdraws an answer if the hook %s, or lets it pass if so configured', async (_, hook, cause) => {
  const { verdict, errors } = ask(hook)
  expect(await verdict).toBe(UNCHECKED)
  expect(errors).toEqual([['hooks.afterAnswer has failed', { cause: expect.stringContaining(cause) }]])
  expect(await ask(hook, 'pass').verdict).toBeUndefined()
})

it('gives the hook ten seconds for an answer', async () => {
  vi.useFakeTimers()
  const { verdict, errors } = ask(() => new Promise(() => {}))
  let result: unknown = 'none yet'
  void verdict.then((text) => {
    result = text
  })
  await vi.advanceTimersByTimeAsync(9_999)
  expect(result).toBe('none yet')
  await vi.advanceTimersByTimeAsync(1)
  expect([result, errors]).toEqual([
    UNCHECKED,
    [['hooks.afterAnswer has failed', { cause: 'it took longer than 10000 ms' }]],
  ])
})
