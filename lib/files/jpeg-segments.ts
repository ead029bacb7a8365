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

/**
 * The segments before the first scan. What is between segments is passed over, as decoders do, so a broken file ends
 * nothing but the list.
 */
export function* segmentsOf(bytes: Buffer): Generator<Segment, void> {
  for (let at = 0; ; ) {
    const marked = bytes.indexOf(0xff, at)
    if (marked === -1 || marked + 4 > bytes.length) return
    const marker = bytes[marked + 1]!
    if (marker === END_OF_PICTURE || marker === START_OF_SCAN) return
    const length = bytes.readUInt16BE(marked + 2)
    if (marker === 0xff) at = marked + 1
    else if (isAlone(marker) || length < 2) at = marked + 2
    else {
      at = marked + 2 + length
      yield { marker, start: marked + 4, end: at }
    }
  }
}
