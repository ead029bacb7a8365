const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** A text in which characters that are not seen, or that turn others around, are written as their numbers. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A value of a tool as text: it may have anything that a model writes. */
export function valueText(value: unknown): string {
  return visibleText(typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? ''))
}
