import { monitorEventLoopDelay } from 'node:perf_hooks'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { assertPixels } from '../../../lib/files/pictures/png-pixels.ts'
import { stripPicture } from '../../../lib/files/pictures/strip.ts'
import { PNG_SIGNATURE, png, pngChunk } from './make.ts'

/** A PNG with these pixels, or that many bytes of black ones. */
function pngOf(
  { width, height, depth = 8, color = 2, interlace = 0 }: Record<string, number>,
  pixels: number | Buffer[],
): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width!, 0)
  header.writeUInt32BE(height!, 4)
  header.set([depth, color, 0, 0, interlace], 8)
  const packed = typeof pixels === 'number' ? [deflateSync(Buffer.alloc(pixels))] : pixels
  const palette = color === 3 ? [pngChunk('PLTE', Buffer.alloc(3))] : []
  const parts = packed.map((content) => pngChunk('IDAT', content))
  return Buffer.concat([PNG_SIGNATURE, pngChunk('IHDR', header), ...palette, ...parts, pngChunk('IEND')])
}

const isWhole = (bytes: Buffer) =>
  assertPixels(stripPicture(bytes).bytes).then(
    () => true,
    (error) => {
      expect(error.problem).toBe('broken')
      return false
    },
  )

it.each([
  [{ width: 3, height: 2 }, 20],
  [{ width: 9, height: 5, depth: 1, color: 0 }, 15],
  [{ width: 9, height: 5, depth: 4, color: 3 }, 30],
  [{ width: 2, height: 2, depth: 16, color: 4 }, 18],
  [{ width: 2, height: 3, depth: 16, color: 6 }, 51],
  [{ width: 1, height: 1, color: 0, interlace: 1 }, 2],
  [{ width: 8, height: 8, color: 0, interlace: 1 }, 79],
  [{ width: 5, height: 5, depth: 1, color: 0, interlace: 1 }, 22],
])('the pixels of a PNG are as many as its header says: %o has %i bytes', async (header, size) => {
  expect(await isWhole(pngOf(header, size))).toBe(true)
  for (const other of [0, size - 1, size + 1, 10 * size]) expect(await isWhole(pngOf(header, other))).toBe(false)
})

it('the pixels of a PNG may be in several chunks, and are refused where they do not inflate', async () => {
  const packed = deflateSync(Buffer.alloc(20))
  const header = { width: 3, height: 2 }
  const split = (at: number) => [packed.subarray(0, at), Buffer.alloc(0), packed.subarray(at)]
  for (let at = 0; at <= packed.length; at++) expect(await isWhole(pngOf(header, split(at)))).toBe(true)
  for (let at = 0; at < packed.length; at++) expect(await isWhole(pngOf(header, [packed.subarray(0, at)]))).toBe(false)
  const wrong = Buffer.from(packed)
  wrong[wrong.length - 1]! ^= 1
  for (const pixels of [[wrong], [Buffer.from('no pixels')], [Buffer.alloc(0)]])
    expect(await isWhole(pngOf(header, pixels))).toBe(false)
  expect(await isWhole(png(640, 480))).toBe(true)
})

it('the largest PNG, and one that inflates to more, are inflated beside the event loop and not kept', async () => {
  const header = { width: 4096, height: 4096, depth: 16, color: 6 }
  const size = 4096 * (1 + 8 * 4096)
  const [largest, larger] = [pngOf(header, size), pngOf({ ...header, height: 1 }, size)]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const before = process.memoryUsage()
  delay.enable()
  expect(await Promise.all([isWhole(largest), isWhole(larger), isWhole(largest)])).toEqual([true, false, true])
  delay.disable()
  const { external, arrayBuffers } = process.memoryUsage()
  expect(external - before.external).toBeLessThan(128 * 1024 * 1024)
  expect(arrayBuffers - before.arrayBuffers).toBeLessThan(128 * 1024 * 1024)
  expect(delay.percentile(99) / 1e6).toBeLessThan(50)
})
