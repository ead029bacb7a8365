import { expect, it } from 'vitest'
import { readAtMost, readChunks, readText } from '../../lib/core/body.ts'

/** A body of these chunks, which says whether its reader left before the end. */
function bodyOf(...chunks: (string | number[])[]) {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks.shift()
        if (chunk === undefined) return controller.close()
        controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : new Uint8Array(chunk))
      },
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, isCancelled: () => isCancelled }
}

it.each([
  [3, 'abc', false],
  [4, 'abcd', true],
  [5, 'abcd', true],
])('reads at most %i bytes', async (limit, text, isWhole) => {
  const { bytes, ...rest } = await readAtMost(bodyOf('ab', 'cd').body, limit)
  expect({ text: new TextDecoder().decode(bytes), ...rest }).toEqual({ text, isWhole })
})

it('reads nothing of no body', async () => {
  expect(await readAtMost(null, 1)).toEqual({ bytes: new Uint8Array(), isWhole: true })
})

it('closes the connection once the limit is passed', async () => {
  const { body, isCancelled } = bodyOf('ab', 'cd', 'ef', 'gh')
  await readAtMost(body, 3)
  expect(isCancelled()).toBe(true)
})

it('closes the connection of a reader that leaves', async () => {
  const { body, isCancelled } = bodyOf('ab', 'cd')
  for await (const _ of readChunks(body)) break
  expect(isCancelled()).toBe(true)
})

it('ends when the signal aborts', async () => {
  const abort = new AbortController()
  const { body, isCancelled } = bodyOf('ab', 'cd')
  const seen: number[] = []
  for await (const chunk of readChunks(body, abort.signal)) {
    seen.push(chunk.length)
    abort.abort()
  }
  expect(seen).toEqual([2])
  expect(isCancelled()).toBe(true)
})

it('fails with the body', async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('lost')) })
  await expect(readAtMost(body, 1)).rejects.toThrow('lost')
})

it('joins characters that are cut in two', async () => {
  const texts: string[] = []
  for await (const text of readText(bodyOf([0xc3], [0xbc, 0x21]).body)) texts.push(text)
  expect(texts.join('')).toBe('ü!')
})
