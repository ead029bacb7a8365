/** @returns `undefined` for invalid JSON: the parser's own error would quote it */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
