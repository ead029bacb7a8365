/**
 * A text as a URL; `undefined` for what is none. `URL.canParse` is not used: once V8 has optimized its caller, Node 20 and 22
 * take hosts with letters such as `ä` for no URLs.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
