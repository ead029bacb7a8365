/** The requested part of a file: the first byte, and the one after the last. */
export interface Range {
  start: number
  end: number
}

/** One range of bytes: `5-9`, `5-`, or the last ones, `-5`. */
const ONE = /^bytes=[ \t]*(\d{0,20})-(\d{0,20})[ \t]*$/i

/**
 * What a `Range` header asks for (RFC 9110, section 14.2). Several ranges, another unit and a malformed header ask for the
 * whole, which RFC 9110 allows a server to send.
 *
 * @param size of the file in bytes, at least 1
 */
export function parseRange(header: string | undefined, size: number): Range | 'whole' | 'unsatisfiable' {
  const [, first, last] = ONE.exec(header ?? '') ?? []
  if (first === undefined || (!first && !last)) return 'whole'
  if (!first) {
    const count = Math.min(Number(last), size)
    return count > 0 ? { start: size - count, end: size } : 'unsatisfiable'
  }
  const start = Number(first)
  if (last && Number(last) < start) return 'whole'
  if (start >= size) return 'unsatisfiable'
  return { start, end: last ? Math.min(Number(last) + 1, size) : size }
}
