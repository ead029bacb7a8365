import { describe, expect, it } from 'vitest'
import { createEcho, toPieces } from '../../lib/assistant/echo.ts'
import { asking, collect } from './turns.ts'

const echo = createEcho()

describe('the echo', () => {
  it('repeats the prompt, word by word, and counts the words', async () => {
    const request = asking('Does it\nrun?')
    request.turns.unshift({ role: 'system', content: 'Be brief.' })
    expect(await collect(echo(request))).toEqual({
      pieces: ['Does ', 'it\n', 'run?'],
      finish_reason: 'stop',
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    })
  })

  it('repeats a prompt of one of several users without the name before it', async () => {
    const request = asking('')
    request.turns = [{ role: 'user', content: 'Ada: Does it run?', name: 'Ada' }]
    expect((await collect(echo(request))).pieces).toEqual(['Does ', 'it ', 'run?'])
  })

  it('stops during a pause when it is aborted', async () => {
    const abort = new AbortController()
    const answer = echo(asking('one two three', abort.signal))[Symbol.asyncIterator]()
    expect(await answer.next()).toEqual({ value: 'one ', done: false })
    const rest = answer.next()
    abort.abort()
    expect(await rest).toEqual({ value: undefined, done: true })
  })

  it('yields nothing for an empty prompt', async () => {
    expect(await collect(echo(asking('one two', AbortSignal.abort())))).toEqual({ pieces: [] })
  })
})

describe('toPieces', () => {
  it.each([
    ['', []],
    ['one', ['one']],
    [' one  two\r\n', [' ', 'one  ', 'two\r\n']],
    ['\u00a0\u{1f600}\u3000x', ['\u00a0', '\u{1f600}\u3000', 'x']],
    [' \n', [' \n']],
  ])('of %j are %j', (text, pieces) => {
    expect(toPieces(text)).toEqual({ pieces, pause_ms: 30 })
  })

  it.each([[2], [66], [67], [200], [201], [1_000], [100_000]])(
    'splits %i words into whole words, and pauses at most two seconds in all',
    (count) => {
      const text = 'word '.repeat(count)
      const { pieces, pause_ms } = toPieces(text)
      expect(pieces.join('')).toBe(text)
      expect(pieces.length * pause_ms).toBeLessThanOrEqual(2_000)
      expect(pause_ms).toBeGreaterThanOrEqual(10)
    },
  )

  it('splits white space as quickly as words', () => {
    expect(toPieces(' '.repeat(2 ** 20)).pieces).toHaveLength(1)
  })
})
