import { expect, it } from 'vitest'
import { streamChunks } from '../../../lib/http/response/chunk-streams.ts'

/** At least as much as is produced at a time. */
const LONG = 'x'.repeat(20_000)

function endless() {
  const state = { made: 0, isOver: false }
  function* pieces() {
    try {
      while (state.made < 1_000) yield { made: ++state.made, text: LONG }
    } finally {
      state.isOver = true
    }
  }
  return { state, pieces: pieces() }
}

it('sends each chunk as an event, and [DONE] after the last', async () => {
  const text = await new Response(streamChunks([{ a: 'one\ntwo' }, { b: 2 }])).text()
  expect(text).toBe('data: {"a":"one\\ntwo"}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n')
})

it('creates few chunks ahead of the reader, and none after the reader has left', async () => {
  const { state, pieces } = endless()
  const reader = streamChunks(pieces).getReader()
  await reader.read()
  await new Promise((resolve) => setImmediate(resolve))
  const { made } = state
  expect(made).toBeLessThan(4)
  await reader.cancel()
  expect(state).toEqual({ made, isOver: true })
})

it('lets other work run, however fast it is read', async () => {
  function* pieces() {
    for (let n = 0; n < 50_000; n++) yield { n }
  }
  let turns = 0
  const count = () => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await new Response(streamChunks(pieces())).text()
  clearImmediate(timer)
  expect(turns).toBeGreaterThan(20)
})
