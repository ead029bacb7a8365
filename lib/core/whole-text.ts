/** The end of a text without half a surrogate pair: providers may split one. */
export function wholeLength(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
