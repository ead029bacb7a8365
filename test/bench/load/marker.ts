const LEAD = 0x5e // ^
const END = 0x24 // $
const ZERO = 0x30
const DIGITS = 8

const MARKER_BYTES = DIGITS + 2

/**
 * What stands before the marker in every post. A service may send an excerpt of a text beside the text itself:
 * behind 170 bytes the marker is in no excerpt and occurs once in what a reader gets.
 */
export const PADDING = 'A post of ordinary length, as people write them. '.repeat(4).slice(0, 170)

/** The text that marks post number `seq`; all have one length, so that requests can be cut from a template. */
export function marker(seq: number): string {
  return `^${String(seq).padStart(DIGITS, '0')}$`
}

/** Where a reader stands in its byte stream. */
export interface Cursor {
  /** The beginning of a marker that the last read cut in two. */
  tail: Buffer | undefined
  /** Distance of the last two markers: posts of one length repeat it, and looking there first spares a search. */
  stride: number
}

/** Calls `found` for every marker in the next bytes of a stream, in order, without parsing what surrounds them. */
export function scan<C extends Cursor>(cursor: C, next: Buffer, found: (cursor: C, seq: number) => void): void {
  const bytes = cursor.tail ? Buffer.concat([cursor.tail, next]) : next
  cursor.tail = undefined
  let at = bytes.indexOf(LEAD)
  while (at !== -1) {
    const seq = readMarker(bytes, at)
    if (seq === -1) {
      if (at + MARKER_BYTES > bytes.length) {
        // Not a view: the buffer behind `next` is overwritten by the next read.
        cursor.tail = Buffer.from(bytes.subarray(at))
        return
      }
      at = bytes.indexOf(LEAD, at + 1)
      continue
    }
    found(cursor, seq)
    at = nextLead(cursor, bytes, at)
  }
}

function nextLead(cursor: Cursor, bytes: Buffer, at: number): number {
  const guess = at + cursor.stride
  if (cursor.stride > 0 && readMarker(bytes, guess) !== -1) return guess
  const lead = bytes.indexOf(LEAD, at + MARKER_BYTES)
  if (lead !== -1) cursor.stride = lead - at
  return lead
}

/** The number of the marker at `at`, or -1 where none stands whole. */
function readMarker(bytes: Buffer, at: number): number {
  const end = at + MARKER_BYTES - 1
  if (end >= bytes.length || bytes[at] !== LEAD || bytes[end] !== END) return -1
  let seq = 0
  for (let i = at + 1; i < end; i++) {
    const digit = bytes[i]! - ZERO
    if (digit < 0 || digit > 9) return -1
    seq = seq * 10 + digit
  }
  return seq
}
