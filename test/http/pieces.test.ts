import { expect, it } from 'vitest'
import { streamPieces } from '../../lib/http/pieces.ts'

function countdown() {
  const state = { made: 0, isOver: false }
  function* pieces() {
    try {
      while (state.made < 1_000) yield { left: 1_000 - ++state.made }
    } finally {
      state.isOver = true
    }
  }
  return { state, pieces: pieces() }
}

it('sends each piece as an event, and [DONE] after the last', async () => {
  const text = await new Response(streamPieces([{ a: 'one\ntwo' }, { b: 2 }])).text()
  expect(text).toBe('data: {"a":"one\\ntwo"}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n')
})

it('makes no piece that nobody reads, and none after the reader has gone', async () => {
  const { state, pieces } = countdown()
  const reader = streamPieces(pieces).getReader()
  await reader.read()
  await new Promise((resolve) => setImmediate(resolve))
  expect(state.made).toBe(2)
  await reader.cancel()
  expect(state).toEqual({ made: 2, isOver: true })
})
