const KEYCAP = '[0-9#*]\\uFE0F?\\u20E3'
const FLAG = '[\u{1F1E6}-\u{1F1FF}]{2}\\uFE0F?|\u{1F3F4}[\u{E0020}-\u{E007E}]+\u{E007F}'
const PICTURE = '\\p{Extended_Pictographic}[\\uFE0E\\uFE0F]?[\u{1F3FB}-\u{1F3FF}]?\\uFE0F?'

/**
 * The form of an emoji, or of a name in colons, for the OpenAPI document, whose readers take it with the flag `u` or without.
 * It is wider than {@link isEmoji}: of other characters it only excludes letters and signs of most scripts.
 */
export const EMOJI_PATTERN =
  `^(:[a-z0-9_+\\-]{1,32}:|${KEYCAP}|` +
  '[^\\u0000-\\u00A8\\u00AA-\\u00AD\\u00AF-\\u200C\\u200E-\\u203B\\u329A-\\uD7FF\\uE000-\\uFE0D\\uFE10-\\uFFFF]{1,32})$'

/** The form of an emoji as in {@link EMOJI_PATTERN}, or of an empty text. */
export const EMOJI_OR_EMPTY_PATTERN = EMOJI_PATTERN.replace(/\$$/, '?$')

/** The longest emoji in UTF-8: more than any flag or family has. */
export const MAX_EMOJI_BYTES = 64

const NAME = /^:[a-z0-9_+-]{1,32}:$/
/**
 * A keycap, a flag, or pictures that are joined, as in Unicode Technical Standard #51. Of characters that are not seen it has
 * only those that belong to an emoji, so that no two that look alike differ.
 */
const EMOJI = new RegExp(`^(?:${KEYCAP}|${FLAG}|${PICTURE}(?:\\u200D${PICTURE})*|\\p{Emoji_Modifier})$`, 'u')

/** Whether a text is one emoji, which is a single grapheme; or a name in colons, whose picture is the application's. */
export function isEmoji(text: string): boolean {
  if (NAME.test(text)) return true
  // In this order: a text is measured before it is matched.
  if (text.length > MAX_EMOJI_BYTES || new TextEncoder().encode(text).length > MAX_EMOJI_BYTES) return false
  return EMOJI.test(text)
}

/** What the spellings of an emoji have in common: the selectors of its text form and its coloured form may be there or not. */
export function emojiKey(emoji: string): string {
  return emoji.replace(/[\uFE0E\uFE0F]/g, '')
}
