import { crc32, deflateSync } from 'node:zlib'
import { exifWith } from '../../../lib/files/exif.ts'

/** A chunk of a PNG, with its checksum. */
export function pngChunk(type: string, content: Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), content, Buffer.alloc(4)])
  bytes.writeUInt32BE(content.length, 0)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4)
  return bytes
}

export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1A\n', 'latin1')

/** The header of a PNG with 8 bits a sample. */
export function ihdr(width: number, height: number, color = 2): Buffer {
  const content = Buffer.alloc(13)
  content.writeUInt32BE(width, 0)
  content.writeUInt32BE(height, 4)
  content.set([8, color], 8)
  return pngChunk('IHDR', content)
}

/** A PNG of black pixels. @param before chunks before the pixels @param after chunks after them */
export function png(width: number, height: number, before: Buffer[] = [], after: Buffer[] = []): Buffer {
  const pixels = deflateSync(Buffer.alloc(height * (1 + 3 * width)))
  return Buffer.concat([
    PNG_SIGNATURE,
    ihdr(width, height),
    ...before,
    pngChunk('IDAT', pixels),
    ...after,
    pngChunk('IEND'),
  ])
}

/** A segment of a JPEG. */
export function segment(marker: number, content: Uint8Array): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

/** A JPEG of one grey pixel, with the tables of ITU T.81, annex K; the other parts by name. */
const GREY = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z',
  'base64',
)
const AT_FRAME = GREY.indexOf(Buffer.from([0xff, 0xc0]))

/** A JPEG. @param before segments before its frame */
export function jpeg(width: number, height: number, before: Buffer[] = []): Buffer {
  const [head, rest] = [GREY.subarray(0, AT_FRAME), Buffer.from(GREY.subarray(AT_FRAME))]
  rest.writeUInt16BE(height, 5)
  rest.writeUInt16BE(width, 7)
  return Buffer.concat([head, ...before, rest])
}

/** The Exif segment of a JPEG with an orientation, and a text behind it. */
export const exif = (orientation: number, text = '') =>
  segment(0xe1, Buffer.concat([exifWith(orientation), Buffer.from(text)]))

/** A chunk of a WebP. */
export function webpChunk(type: string, content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(8 + content.length + (content.length % 2))
  bytes.write(type, 'latin1')
  bytes.writeUInt32LE(content.length, 4)
  bytes.set(content, 8)
  return bytes
}

export function webp(...chunks: Buffer[]): Buffer {
  const content = Buffer.concat(chunks)
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  head.writeUInt32LE(content.length + 4, 4)
  return Buffer.concat([head, content])
}

/** The pixels of one pixel, without loss and with it. */
export const LOSSLESS = Buffer.from('LwAAABAHEBERiIj+BwA=', 'base64').subarray(0, 13)
export const LOSSY = Buffer.from('MAEAnQEqAQABAA7A/iWkAANwAAAAAA==', 'base64')

/** The chunk of an extended WebP. */
export function vp8x(width: number, height: number, flags = 0): Buffer {
  const content = Buffer.alloc(10)
  content[0] = flags
  content.writeUIntLE(width - 1, 4, 3)
  content.writeUIntLE(height - 1, 7, 3)
  return webpChunk('VP8X', content)
}
