/**
 * The value of a cookie in a `Cookie` header. `undefined` when it is missing, and when it is there twice with
 * different values: one of them may come from a neighbouring host (cookie tossing).
 */
export function readCookie(header: string | null | undefined, name: string): string | undefined {
  if (!header) return undefined
  let found: string | undefined
  for (const part of header.split(';')) {
    const equals = part.indexOf('=')
    if (equals < 0 || part.slice(0, equals).trim() !== name) continue
    const value = part.slice(equals + 1).trim()
    if (found !== undefined && found !== value) return undefined
    found = value
  }
  return found
}
