import { stripJpeg } from './jpeg.ts'
import { PictureError } from './picture-error.ts'
import { stripPng } from './png.ts'
import { stripWebp } from './webp.ts'

/** The types of pictures that a user may have. */
export type PictureType = 'image/jpeg' | 'image/png' | 'image/webp'

/** A picture with nothing beside it. */
export interface StrippedPicture {
  type: PictureType
  bytes: Buffer
}

const isPng = (bytes: Buffer) => bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1A\n'
const isJpeg = (bytes: Buffer) => bytes.toString('latin1', 0, 3) === '\xFF\xD8\xFF'
const isWebp = (bytes: Buffer) =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'

/**
 * Writes a picture anew, with its orientation and color profile and nothing else: metadata, the animation of a PNG and what
 * follows the picture are left out. Its type is that of its first bytes. Nothing is decoded.
 *
 * @throws PictureError `unsupported` for another type; `animated` for an animated WebP; `large` for a side of more than
 *   {@link MAX_SIDE}; `broken` for anything else that a decoder would stumble on
 */
export function stripPicture(picture: Uint8Array): StrippedPicture {
  const bytes = Buffer.from(picture.buffer, picture.byteOffset, picture.length)
  if (isPng(bytes)) return { type: 'image/png', bytes: stripPng(bytes) }
  if (isJpeg(bytes)) return { type: 'image/jpeg', bytes: stripJpeg(bytes) }
  if (isWebp(bytes)) return { type: 'image/webp', bytes: stripWebp(bytes) }
  throw new PictureError('unsupported')
}
