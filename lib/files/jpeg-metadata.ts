import { EXIF_BYTES, exifWith, findOrientation } from './exif.ts'
import { END_OF_PICTURE, MAX_SEGMENTS, nextMarker } from './jpeg-segments.ts'

/** Where the end of a part has cut a JPEG; opaque: the caller passes it to the next part. */
export interface JpegState {
  /** The first bytes of a segment, which the end has cut: too few to know what it is. */
  head: Uint8Array
  /** How much of a cut segment is still to come. */
  left: number
  /** Whether that is to be blanked. */
  blank: boolean
  /** Whether the orientation is written already. */
  oriented: boolean
  /** `after`: what follows is not of the picture. `other`: it is no JPEG. */
  place: 'inside' | 'after' | 'other'
}

const START: JpegState = { head: new Uint8Array(), left: 0, blank: false, oriented: false, place: 'inside' }

/**
 * The content that stays: the density of JFIF without its thumbnail, the color profile, the color transform. All other
 * segments of applications are metadata: Exif with places and times, XMP, IPTC, notes of makers, other pictures.
 */
const KEPT: Record<number, [name: string, bytes: number]> = {
  224: ['JFIF\0', 14],
  226: ['ICC_PROFILE\0', Number.POSITIVE_INFINITY],
  238: ['Adobe', 12],
}
/** As much of a content as is needed to know which it is, and whatever of it stays, unless all does. */
const NAME_BYTES = 14

const EXIF_SEGMENT = 0xe1
const COMMENT = 0xfe
/** A segment of an application that no program uses. */
const NO_APPLICATION = 0xef

/**
 * Blanks the metadata of a JPEG, and all that follows the picture, part by part: lengths and positions stay, so that the file
 * has the size and the parts it was announced with. An Exif segment keeps the orientation only; the picture and its color
 * profile are untouched. A broken JPEG is blanked as far as decoders would read it, one with {@link MAX_SEGMENTS} from there on, and other
 * files are returned as they are.
 *
 * @param part any part of the file, in order; one that was cleaned before stays as it is
 * @param state of the part before; left out for the first one
 */
export function cleanJpeg(part: Uint8Array, state: JpegState = START): { bytes: Buffer; state: JpegState } {
  if (state === START && !(part[0] === 0xff && part[1] === 0xd8 && part[2] === 0xff))
    state = { ...START, place: 'other' }
  if (state.place === 'other') return { bytes: asBuffer(part), state }
  const bytes = Buffer.concat([state.head, part])
  const next = { ...state, head: START.head }
  for (let at = finishCut(bytes, next), looked = 0; at < bytes.length; looked++) {
    if (looked === MAX_SEGMENTS) next.place = 'after'
    at = cleanNext(bytes, at, next, state.head.length)
  }
  return { bytes: bytes.subarray(state.head.length), state: next }
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length)

/** Blanks or passes over the rest of a segment that the end of the part before has cut. @returns where it ends */
function finishCut(bytes: Buffer, state: JpegState): number {
  const end = Math.min(state.left, bytes.length)
  if (state.blank) bytes.fill(0, 0, end)
  state.left -= end
  return end
}

/** Cleans up to the next segment, and it. @param sent how many of the first bytes cannot be changed any more */
function cleanNext(bytes: Buffer, at: number, state: JpegState, sent: number): number {
  if (state.place === 'after') {
    bytes.fill(0, at)
    return bytes.length
  }
  const marked = nextMarker(bytes, at)
  if (marked === -1) return bytes.length
  const marker = bytes[marked + 1]
  if (marker === END_OF_PICTURE) {
    state.place = 'after'
    return marked + 2
  }
  if (bytes.length < marked + 4) return cutHead(bytes, marked, state)
  const end = marked + 2 + bytes.readUInt16BE(marked + 2)
  if (end < marked + 4) return marked + 2
  if (KEPT[marker!] && bytes.length < Math.min(end, marked + 4 + NAME_BYTES)) return cutHead(bytes, marked, state)
  return cleanSegment(bytes, { marked, end, isWhole: marked >= sent }, state)
}

function cutHead(bytes: Buffer, marked: number, state: JpegState): number {
  // A copy, so that the next part does not hold this one in memory.
  state.head = Uint8Array.from(bytes.subarray(marked))
  return bytes.length
}

function cleanSegment(
  bytes: Buffer,
  { marked, end, isWhole }: { marked: number; end: number; isWhole: boolean },
  state: JpegState,
): number {
  const [marker, start] = [bytes[marked + 1]!, marked + 4]
  const until = Math.min(end, bytes.length)
  state.left = end - until
  state.blank = isMetadata(marker)
  if (!state.blank) return until
  const [name, kept] = KEPT[marker] ?? ['', 0]
  if (name && bytes.toString('latin1', start, start + name.length) === name) {
    const from = Math.min(start + kept, until)
    state.blank = kept < end - start
    bytes.fill(0, from, until)
    return until
  }
  const orientation =
    marker === EXIF_SEGMENT && !state.oriented ? findOrientation(bytes.subarray(start, until)) : undefined
  bytes.fill(0, start, until)
  if (marker === COMMENT && isWhole) bytes[marked + 1] = NO_APPLICATION
  if (orientation !== undefined && isWhole && until - start >= EXIF_BYTES) {
    exifWith(orientation).copy(bytes, start)
    state.oriented = true
  }
  return until
}

/** What applications have written, and comments. */
function isMetadata(marker: number): boolean {
  return (marker >= 0xe0 && marker <= 0xef) || marker === COMMENT
}
