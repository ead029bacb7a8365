import { crc32 } from 'node:zlib'
import { exifWith, findOrientation } from '../exif.ts'
import { assertSides, assertWhole, MAX_PARTS } from './picture-error.ts'

/** A chunk of a PNG (PNG specification, third edition, section 5.3). */
interface Chunk {
  type: string
  content: Buffer
}

const SIGNATURE_BYTES = 8
/** The length, the type and the checksum. */
const FRAME_BYTES = 12

/** The chunks of the picture; each at most once, but IDAT. */
const PICTURE = ['IHDR', 'PLTE', 'IDAT', 'IEND']
/** What the colors mean, with the maximum size of each. They and the transparency come before the pixels. */
const COLORS: Record<string, number> = { cHRM: 32, gAMA: 4, sRGB: 1, sBIT: 4, cICP: 4, tRNS: 768 }

/** The bits of a sample by type of color (section 11.2.1). */
const DEPTHS: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
const WITH_PALETTE = 3

/** @throws PictureError */
export function stripPng(bytes: Buffer): Buffer {
  const kept: Buffer[] = [bytes.subarray(0, SIGNATURE_BYTES)]
  const seen = new Set<string>()
  let color = 0
  let last = ''
  for (const chunk of readChunks(bytes)) {
    const { type, content } = chunk
    assertWhole((last === '') === (type === 'IHDR'))
    if (type === 'IHDR') color = readHeader(content)
    assertPlaced(type, { seen, last, color })
    const left = toKept(chunk, seen)
    if (left) kept.push(toBytes(left))
    last = type
    seen.add(type)
  }
  return Buffer.concat(kept)
}

/** The chunks up to the end of the picture. @throws PictureError */
export function* readChunks(bytes: Buffer): Generator<Chunk, void> {
  for (let at = SIGNATURE_BYTES, count = 0; ; count++) {
    assertWhole(count < MAX_PARTS && bytes.length - at >= FRAME_BYTES)
    const length = bytes.readUInt32BE(at)
    assertWhole(length <= bytes.length - at - FRAME_BYTES)
    const type = bytes.toString('latin1', at + 4, at + 8)
    assertWhole(/^[A-Za-z]{4}$/.test(type))
    const end = at + 8 + length
    if (isKept(type)) assertWhole(crc32(bytes.subarray(at + 4, end)) === bytes.readUInt32BE(end))
    yield { type, content: bytes.subarray(at + 8, end) }
    if (type === 'IEND') return
    at = end + 4
  }
}

const isKept = (type: string) => PICTURE.includes(type) || type in COLORS || type === 'iCCP' || type === 'eXIf'

/** @returns the type of color @throws PictureError */
function readHeader(content: Buffer): number {
  assertWhole(content.length === 13)
  assertSides(content.readUInt32BE(0), content.readUInt32BE(4))
  const [depth, color, compression, filter, interlace] = content.subarray(8)
  assertWhole(DEPTHS[color!]?.includes(depth!) === true)
  assertWhole(compression === 0 && filter === 0 && interlace! <= 1)
  return color!
}

/** @throws PictureError for a chunk of the picture in a wrong place, or that no decoder knows */
function assertPlaced(type: string, { seen, last, color }: { seen: Set<string>; last: string; color: number }): void {
  if (type === 'IDAT') {
    assertWhole(!seen.has('IDAT') || last === 'IDAT')
    assertWhole(color !== WITH_PALETTE || seen.has('PLTE'))
  } else if (type === 'IEND') assertWhole(seen.has('IDAT'))
  else if (type === 'PLTE') assertWhole(!seen.has('PLTE') && !seen.has('IDAT'))
  else assertWhole(type === 'IHDR' || /^[a-z]/.test(type))
}

/** The chunk as it stays: of Exif the orientation, of a color profile the profile without its name. */
function toKept({ type, content }: Chunk, seen: ReadonlySet<string>): Chunk | undefined {
  if (PICTURE.includes(type)) {
    assertWhole(type !== 'PLTE' || (content.length > 0 && content.length <= 768 && content.length % 3 === 0))
    assertWhole(type !== 'IEND' || content.length === 0)
    return { type, content }
  }
  if (seen.has(type)) return undefined
  if (type === 'eXIf') return toOrientation(content)
  if (seen.has('IDAT')) return undefined
  if (type === 'iCCP') return toProfile(content)
  return content.length <= (COLORS[type] ?? -1) ? { type, content } : undefined
}

/** The content of the segment of a JPEG has this before what a chunk has. */
const EXIF = Buffer.from('Exif\0\0', 'latin1')

function toOrientation(content: Buffer): Chunk | undefined {
  const orientation = findOrientation(Buffer.concat([EXIF, content]))
  return orientation === undefined ? undefined : { type: 'eXIf', content: exifWith(orientation).subarray(EXIF.length) }
}

/** The longest name of a profile. */
const MAX_NAME = 79

function toProfile(content: Buffer): Chunk | undefined {
  const end = content.indexOf(0)
  if (end < 1 || end > MAX_NAME || content[end + 1] !== 0) return undefined
  return { type: 'iCCP', content: Buffer.concat([Buffer.from('ICC\0', 'latin1'), content.subarray(end + 1)]) }
}

function toBytes({ type, content }: Chunk): Buffer {
  const bytes = Buffer.alloc(FRAME_BYTES + content.length)
  bytes.writeUInt32BE(content.length, 0)
  bytes.write(type, 4, 'latin1')
  content.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length)
  return bytes
}
