import { pipeline } from 'node:stream/promises'
import { createInflate } from 'node:zlib'
import { assertWhole, PictureError } from './picture-error.ts'
import { readChunks } from './png.ts'

/** The samples of a pixel by type of color (PNG specification, third edition, section 11.2.1). */
const SAMPLES: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** The passes of an interlaced picture: the first column and row, and the distance to the next ones (section 8.1). */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const
const WHOLE = [[0, 0, 1, 1]] as const

/** How much is inflated at a time, on a thread: each piece costs the event loop some microseconds. */
const PIECE_BYTES = 256 * 1024

/**
 * Inflates the pixels of a PNG whose chunks are in order, and keeps none of them: 134 MB for the largest.
 *
 * @throws PictureError `broken` unless they are as many as the header says
 */
export async function assertPixels(png: Buffer): Promise<void> {
  const chunks = [...readChunks(png)]
  const expected = sizeOfPixels(chunks[0]!.content)
  const packed = chunks.flatMap(({ type, content }) => (type === 'IDAT' ? content : []))
  let size = 0
  try {
    await pipeline(packed, createInflate({ chunkSize: PIECE_BYTES }), async (pieces) => {
      for await (const piece of pieces) {
        size += piece.length
        assertWhole(size <= expected)
      }
    })
  } catch {
    throw new PictureError('broken')
  }
  assertWhole(size === expected)
}

/** The bytes of the pixels by the content of IHDR: each row begins with the byte of its filter. */
function sizeOfPixels(header: Buffer): number {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, color, , , interlace] = header.subarray(8)
  const bits = depth! * SAMPLES[color!]!
  return (interlace === 1 ? PASSES : WHOLE).reduce((sum, [left, top, across, down]) => {
    const columns = Math.ceil((width - left) / across)
    const rows = Math.ceil((height - top) / down)
    return columns > 0 && rows > 0 ? sum + rows * (1 + Math.ceil((columns * bits) / 8)) : sum
  }, 0)
}
