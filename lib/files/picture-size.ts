import { sizeOfAvif } from './avif-size.ts'
import { findOrientation } from './exif.ts'
import { readSegments } from './jpeg-segments.ts'
import { sniff } from './sniff.ts'

/** The size of a picture in pixels. */
export interface PictureSize {
  width: number
  height: number
}

/**
 * The size of a PNG, JPEG, GIF, WebP or AVIF by its header, in the direction in which it is shown; `undefined` for
 * other files and broken headers. Nothing is decoded, so a picture of any size costs the same.
 *
 * @param first the first bytes of the file: of a JPEG with much metadata, up to some MiB
 */
export function pictureSize(first: Uint8Array): PictureSize | undefined {
  const bytes = Buffer.from(first.buffer, first.byteOffset, first.length)
  const start = bytes.toString('latin1', 0, 16)
  if (start.startsWith('\x89PNG\r\n\x1A\n') && start.endsWith('IHDR') && bytes.length >= 24)
    return checked(bytes.readUInt32BE(16), bytes.readUInt32BE(20))
  if (/^GIF8[79]a/.test(start) && bytes.length >= 10) return checked(bytes.readUInt16LE(6), bytes.readUInt16LE(8))
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return sizeOfWebp(bytes)
  if (start.startsWith('\xFF\xD8\xFF')) return sizeOfJpeg(bytes)
  const ofAvif = sniff(bytes) === 'image/avif' ? sizeOfAvif(bytes) : undefined
  return ofAvif && checked(...ofAvif)
}

/** PNG allows 31 bits, and no other format more. */
function checked(width: number, height: number): PictureSize | undefined {
  const isSize = (pixels: number) => pixels > 0 && pixels < 2 ** 31
  return isSize(width) && isSize(height) ? { width, height } : undefined
}

/** RFC 9649, sections 2.5 to 2.7: the first chunk has the size, in each of its three forms in its own way. */
function sizeOfWebp(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30) return undefined
  const chunk = bytes.toString('latin1', 12, 16)
  if (chunk === 'VP8X') return checked(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
  if (chunk === 'VP8L' && bytes[20] === 0x2f) {
    const bits = bytes.readUInt32LE(21)
    return checked((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
  }
  if (chunk === 'VP8 ' && bytes.toString('latin1', 23, 26) === '\x9D\x01\x2A')
    return checked(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
  return undefined
}

/** Frames but for the markers of tables among them (ITU T.81, table B.1). */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

function sizeOfJpeg(bytes: Buffer): PictureSize | undefined {
  let orientation = 1
  for (const { marker, start, end } of readSegments(bytes)) {
    if (marker === 0xe1)
      orientation = findOrientation(bytes.subarray(start, Math.min(end, bytes.length))) ?? orientation
    if (!isFrame(marker)) continue
    if (bytes.length < start + 5 || end < start + 5) return undefined
    const [height, width] = [bytes.readUInt16BE(start + 1), bytes.readUInt16BE(start + 3)]
    return orientation > 4 ? checked(height, width) : checked(width, height)
  }
  return undefined
}
