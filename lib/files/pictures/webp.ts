import { exifWith, findOrientation } from '../exif.ts'
import { assertSides, assertWhole, MAX_PARTS, PictureError } from './picture-error.ts'

/** A chunk of a WebP (RFC 9649, section 2.3). */
interface Chunk {
  type: string
  content: Buffer
}

/** The pixels of a picture, as their header has them. */
interface Bitstream {
  width: number
  height: number
  has_alpha: boolean
}

const RIFF_BYTES = 12
const FLAGS = { profile: 0x20, alpha: 0x10, exif: 0x08, animation: 0x02 }

/** The content of the segment of a JPEG has this before what a chunk has; some programs write it there, too. */
const EXIF = Buffer.from('Exif\0\0', 'latin1')

/** @throws PictureError */
export function stripWebp(bytes: Buffer): Buffer {
  const chunks = readChunks(bytes)
  const [first] = chunks
  assertWhole(first !== undefined)
  if (first.type !== 'VP8X') return toFile([first], readBitstream(first), undefined)
  assertWhole(first.content.length === 10)
  const find = (...types: string[]) => chunks.find(({ type }) => types.includes(type))
  if ((first.content[0]! & FLAGS.animation) !== 0 || find('ANIM', 'ANMF')) throw new PictureError('animated')
  const picture = find('VP8 ', 'VP8L')
  assertWhole(picture !== undefined)
  const bitstream = readBitstream(picture)
  const canvas = [first.content.readUIntLE(4, 3) + 1, first.content.readUIntLE(7, 3) + 1]
  assertSides(...canvas)
  assertWhole(canvas[0] === bitstream.width && canvas[1] === bitstream.height)
  const alpha = picture.type === 'VP8 ' ? find('ALPH') : undefined
  const orientation = findOrientationIn(find('EXIF')?.content)
  const parts = [find('ICCP'), alpha, picture].filter((chunk) => chunk !== undefined)
  return toFile(parts, bitstream, orientation)
}

/** The chunks that the file says it has; what follows is not of the picture. @throws PictureError if one is cut */
function readChunks(bytes: Buffer): Chunk[] {
  assertWhole(bytes.length >= RIFF_BYTES)
  const end = 8 + bytes.readUInt32LE(4)
  assertWhole(end <= bytes.length)
  const chunks: Chunk[] = []
  for (let at = RIFF_BYTES; at < end; ) {
    assertWhole(chunks.length < MAX_PARTS && end - at >= 8)
    const size = bytes.readUInt32LE(at + 4)
    assertWhole(size <= end - at - 8)
    chunks.push({ type: bytes.toString('latin1', at, at + 4), content: bytes.subarray(at + 8, at + 8 + size) })
    at += 8 + size + (size % 2)
  }
  return chunks
}

/** @throws PictureError for a chunk of another type, or with an invalid header */
function readBitstream({ type, content }: Chunk): Bitstream {
  assertWhole(type === 'VP8 ' || type === 'VP8L')
  const bitstream = type === 'VP8 ' ? readLossy(content) : readLossless(content)
  assertSides(bitstream.width, bitstream.height)
  return bitstream
}

/** A key frame whose first partition is whole (RFC 6386, section 9.1). @throws PictureError */
function readLossy(content: Buffer): Bitstream {
  assertWhole(content.length >= 10 && content.toString('latin1', 3, 6) === '\x9D\x01\x2A')
  const tag = content.readUIntLE(0, 3)
  assertWhole((tag & 1) === 0 && tag >> 5 <= content.length - 10)
  return { width: content.readUInt16LE(6) & 0x3fff, height: content.readUInt16LE(8) & 0x3fff, has_alpha: false }
}

/** RFC 9649, section 3.4. @throws PictureError */
function readLossless(content: Buffer): Bitstream {
  assertWhole(content.length >= 6 && content[0] === 0x2f)
  const bits = content.readUInt32LE(1)
  assertWhole(bits >>> 29 === 0)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, has_alpha: ((bits >>> 28) & 1) === 1 }
}

function findOrientationIn(content: Buffer | undefined): number | undefined {
  if (!content) return undefined
  return findOrientation(content) ?? findOrientation(Buffer.concat([EXIF, content]))
}

/** A file of these chunks. Without a color profile, an alpha channel of its own and an orientation it is a simple one. */
function toFile(chunks: Chunk[], { width, height, has_alpha }: Bitstream, orientation: number | undefined): Buffer {
  const all = [...chunks]
  if (orientation !== undefined) all.push({ type: 'EXIF', content: exifWith(orientation).subarray(EXIF.length) })
  if (all.length > 1) {
    const has = (type: string) => all.some((chunk) => chunk.type === type)
    const head = Buffer.alloc(10)
    const alpha = has_alpha || has('ALPH')
    head[0] =
      (has('ICCP') ? FLAGS.profile : 0) | (alpha ? FLAGS.alpha : 0) | (orientation === undefined ? 0 : FLAGS.exif)
    head.writeUIntLE(width - 1, 4, 3)
    head.writeUIntLE(height - 1, 7, 3)
    all.unshift({ type: 'VP8X', content: head })
  }
  const content = Buffer.concat(all.map(toBytes))
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  head.writeUInt32LE(content.length + 4, 4)
  return Buffer.concat([head, content])
}

function toBytes({ type, content }: Chunk): Buffer {
  const bytes = Buffer.alloc(8 + content.length + (content.length % 2))
  bytes.write(type, 0, 'latin1')
  bytes.writeUInt32LE(content.length, 4)
  content.copy(bytes, 8)
  return bytes
}
