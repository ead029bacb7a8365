/** A segment of a JPEG. */
export interface Segment {
  /** The second byte of the marker. */
  marker: number
  /** Where its content begins, after the length. */
  start: number
  /** Where the next one begins; beyond the bytes if it is cut. */
  end: number
}

/** Markers without a content: stuffed bytes and restarts of a scan, its start and end (ITU T.81, table B.1). */
export const isAlone = (marker: number) => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9)

export const END_OF_PICTURE = 0xd9
export const START_OF_SCAN = 0xda

/** More segments than any picture has in 4 MiB: reading each takes time, in which nothing else is done. */
export const MAX_SEGMENTS = 10_000

/**
 * Where the next segment begins, or the end of the picture; -1 if there is neither. Passes over what is between segments, and
 * the millions of stuffed bytes that a scan may have, in one loop.
 */
export function nextMarker(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const marker = bytes[at + 1]
    if (marker === 0xff) continue
    if (marker === undefined || marker === END_OF_PICTURE || !isAlone(marker)) return at
    at++
  }
  return -1
}

/**
 * The segments before the first scan. What is between segments is passed over, as decoders do, so a broken file ends
 * nothing but the list.
 */
export function* readSegments(bytes: Buffer): Generator<Segment, void> {
  for (let at = 0, looked = 0; looked < MAX_SEGMENTS; looked++) {
    const marked = nextMarker(bytes, at)
    if (marked === -1 || marked + 4 > bytes.length) return
    const marker = bytes[marked + 1]!
    if (marker === END_OF_PICTURE || marker === START_OF_SCAN) return
    const length = bytes.readUInt16BE(marked + 2)
    if (length < 2) at = marked + 2
    else {
      at = marked + 2 + length
      yield { marker, start: marked + 4, end: at }
    }
  }
}
