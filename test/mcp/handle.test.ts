import { expect, it } from 'vitest'
import type { TextSink } from '../../lib/mcp/answer.ts'
import { toStream } from '../../lib/mcp/handle.ts'

/** What is so far: a promise that has resolved wins. */
const isResolved = (work: Promise<unknown>) =>
  Promise.race([
    work.then(() => true),
    new Promise<boolean>((resolve) => {
      setImmediate(resolve, false)
    }),
  ])

function start() {
  const state: { sink?: TextSink; isLeft: boolean } = { isLeft: false }
  const response = toStream({
    open(sink) {
      state.sink = sink
      return () => {
        state.isLeft = true
      }
    },
    cancel() {},
  })
  return { response, sink: state.sink!, state }
}

it('holds up what a client of the application does not read', async () => {
  const { response, sink } = start()
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(await isResolved(sink.drained())).toBe(true)
  sink.write('a'.repeat(200_000))
  expect(sink.pending()).toBe(200_000)
  const drained = sink.drained()
  expect(await isResolved(drained)).toBe(false)
  const before = sink.progress?.()
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  expect(sink.progress?.()).not.toBe(before)
  let length = value!.length
  while (length < 200_000) length += (await reader.read()).value!.length
  const last = reader.read()
  await drained
  sink.write('é')
  sink.end()
  expect(new TextDecoder().decode((await last).value)).toBe('é')
  expect((await reader.read()).done).toBe(true)
})

it('ends the call of a client that leaves, which may end after that', async () => {
  const { response, sink, state } = start()
  await response.body!.cancel()
  expect(state.isLeft).toBe(true)
  sink.end()
})
