import { expect, it } from 'vitest'
import { readAnswer } from '../../../lib/assistant/openai/answer.ts'
import type { AnswerPiece } from '../../../lib/assistant/provider.ts'

async function* pieces(...given: unknown[]): AsyncGenerator<AnswerPiece> {
  for (const piece of given) yield piece as AnswerPiece
}

/** Reads an answer to its end: its texts, and its end or the code of its failure. */
async function read(source: AsyncIterable<AnswerPiece>, options: { signal?: AbortSignal; answer_bytes?: number } = {}) {
  const taken: string[] = []
  const { signal = new AbortController().signal, answer_bytes = 100 } = options
  const end = await readAnswer(source, { signal, answer_bytes }, (text) => taken.push(text)).catch(
    (error) => error.code ?? error,
  )
  return { taken, end }
}

it('passes on each text, and the metadata at the end', async () => {
  const usage = { prompt_tokens: 1, total_tokens: 3 }
  const given = pieces('a', { delta: 'b' }, {}, '', { usage: {} }, { usage, finish_reason: 'length' })
  expect(await read(given)).toEqual({ taken: ['a', 'b'], end: { finish_reason: 'length', usage, calls: [] } })
  expect(await read(pieces('a'))).toEqual({ taken: ['a'], end: { finish_reason: 'stop', calls: [] } })
})

it('joins a character that was split in two', async () => {
  expect((await read(pieces('a\ud83d', '', '\ude00b'))).taken).toEqual(['a', '😀b'])
  expect((await read(pieces('\ud83d', '\ude00'))).taken).toEqual(['😀'])
})

it.each([
  ['null', null],
  ['a number', 5],
  ['an array', ['a']],
  ['a delta that is no text', { delta: 5 }],
  ['a usage that is none', { usage: { total_tokens: -1 } }],
  ['a finish reason that is prose', { finish_reason: 'I had enough.' }],
  ['a finish reason that is ours', { finish_reason: 'cancelled' }],
  ['NUL', 'a\0'],
  ['half a character', '\ude00'],
  ['half a character before something else', '\ud83dx'],
])('refuses %s, and keeps the text before it', async (_, piece) => {
  expect(await read(pieces('before', piece, 'after'))).toEqual({ taken: ['before'], end: 'invalid_answer' })
})

it('refuses an end in the middle of a character', async () => {
  expect(await read(pieces('a\ud83d'))).toEqual({ taken: ['a'], end: 'invalid_answer' })
})

it('refuses an answer without text', async () => {
  expect((await read(pieces())).end).toBe('empty_answer')
  expect((await read(pieces('', {}, { finish_reason: 'stop' }))).end).toBe('empty_answer')
  expect((await read(pieces(' \n', '\u200b'))).end).toBe('empty_answer')
})

it('stops an answer at the maximum length', async () => {
  expect(await read(pieces('éé', 'éé', 'x'), { answer_bytes: 8 })).toEqual({
    taken: ['éé', 'éé'],
    end: 'answer_too_long',
  })
})

it('closes the source when the reader leaves early', async () => {
  let isLeft = false
  async function* endless() {
    try {
      for (;;) yield 'x'
    } finally {
      isLeft = true
    }
  }
  expect((await read(endless())).end).toBe('answer_too_long')
  expect(isLeft).toBe(true)
})

it('ends when it is aborted, even if the source ignores the signal', async () => {
  const control = new AbortController()
  const unresponsive: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: () => {
        throw new Error('deaf and rude')
      },
    }),
  }
  const reading = read(unresponsive, { signal: control.signal })
  const reason = new Error('enough')
  control.abort(reason)
  expect(await reading).toEqual({ taken: [], end: reason })
  expect((await read(pieces('a'), { signal: control.signal })).end).toBe(reason)
})

it('passes on the exception of the source', async () => {
  const error = new Error('out of order')
  // biome-ignore lint/correctness/useYield: it throws instead.
  async function* broken(): AsyncGenerator<string> {
    throw error
  }
  expect((await read(broken())).end).toBe(error)
})
