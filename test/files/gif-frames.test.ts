import { expect, it } from 'vitest'
import { largestFrame } from '../../lib/files/gif-frames.ts'
import { bytesOf } from '../support/pictures.ts'

const size = (width: number, height: number) => [width & 255, width >> 8, height & 255, height >> 8]

/** A GIF of 2 × 2 pixels whose frames have these sizes, with tables of colors, a comment, and data in sub-blocks. */
function gif(...frames: [width: number, height: number][]): Buffer {
  const comment = bytesOf([0x21, 0xfe, 3], 'abc', [2], 'de', [0])
  return bytesOf(
    'GIF89a',
    size(2, 2),
    [0x81, 0, 0],
    new Uint8Array(12),
    comment,
    ...frames.map(([width, height]) =>
      bytesOf(
        [0x2c, 0, 0, 0, 0],
        size(width, height),
        [0x80],
        new Uint8Array(6),
        [2, 200],
        new Uint8Array(200),
        [1, 9, 0],
      ),
    ),
    [0x3b],
  )
}

async function* inPieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

it('the largest frame of a GIF is found wherever it is, in pieces of any size', async () => {
  const bytes = gif([1, 1], [60_000, 60_000], [3, 3])
  for (const length of [1, 7, 100, bytes.length])
    expect(await largestFrame(inPieces(bytes, length), Number.MAX_SAFE_INTEGER)).toBe(3_600_000_000)
  expect(await largestFrame(inPieces(gif([1, 1]), 50), 1000)).toBe(4)
})

it('nothing is read behind a frame that is too large, and a broken file ends', async () => {
  const bytes = gif([100, 100], [200, 200])
  let read = 0
  async function* counted() {
    for await (const piece of inPieces(bytes, 64)) {
      read += piece.length
      yield piece
    }
  }
  expect(await largestFrame(counted(), 1000)).toBe(10_000)
  expect(read).toBeLessThan(bytes.length)
  for (let cut = 0; cut < bytes.length; cut += 5)
    expect(await largestFrame(inPieces(bytes.subarray(0, cut), 64), 1e9)).toBeLessThanOrEqual(40_000)
  expect(await largestFrame(inPieces(Buffer.alloc(100_000, 0x2c), 1000), 1e12)).toBeGreaterThan(0)
})
