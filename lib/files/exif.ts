const EXIF = 'Exif\0\0'
const ORIENTATION = 0x0112
const SHORT = 3

/**
 * The orientation of a picture, from 1 to 8, in a segment with Exif (Exif 2.32, section 4.6.4); `undefined` if the segment
 * is another one, says nothing of it, or is broken.
 *
 * @param segment its content, without marker and length
 */
export function findOrientation(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 0, EXIF.length) !== EXIF) return undefined
  const tiff = segment.subarray(EXIF.length)
  const order = tiff.toString('latin1', 0, 2)
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return undefined
  const short = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const long = (at: number) => (order === 'II' ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at))
  const first = long(4)
  if (first + 2 > tiff.length) return undefined
  const count = Math.min(short(first), Math.floor((tiff.length - first - 2) / 12))
  for (let n = 0; n < count; n++) {
    const entry = first + 2 + n * 12
    if (short(entry) !== ORIENTATION) continue
    const value = short(entry + 2) === SHORT && long(entry + 4) === 1 ? short(entry + 8) : 0
    return value >= 1 && value <= 8 ? value : undefined
  }
  return undefined
}

/** How many bytes {@link exifWith} has. */
export const EXIF_BYTES = EXIF.length + 26

/** The content of a segment with only the orientation of a picture. */
export function exifWith(orientation: number): Buffer {
  const bytes = Buffer.alloc(EXIF_BYTES)
  bytes.write(`${EXIF}MM\0*`, 'latin1')
  bytes.writeUInt32BE(8, 10)
  bytes.writeUInt16BE(1, 14)
  bytes.writeUInt16BE(ORIENTATION, 16)
  bytes.writeUInt16BE(SHORT, 18)
  bytes.writeUInt32BE(1, 20)
  bytes.writeUInt16BE(orientation, 24)
  return bytes
}
