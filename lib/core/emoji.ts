/** The blocks of the characters that an emoji begins with, in all versions of Unicode, as the inside of a class. */
const PICTURES =
  '\\u00A9\\u00AE\\u203C\\u2049\\u2122\\u2139\\u2194-\\u21AA\\u2300-\\u24C2\\u25AA-\\u27BF\\u2934-\\u2935' +
  '\\u2B05-\\u2B55\\u3030-\\u303D\\u3297-\\u3299\u{1F000}-\u{1F1E5}\u{1F200}-\u{1FFFD}'

/**
 * The form of an emoji: a keycap, a flag, or pictures that are joined, as in Unicode Technical Standard #51. Of characters
 * that are not seen it has only those that belong to an emoji, so that no two that look alike differ.
 *
 * @param picture the class of the characters that an emoji begins with
 */
function formOf(picture: string): string {
  const element = `${picture}[\\uFE0E\\uFE0F]?[\u{1F3FB}-\u{1F3FF}]?\\uFE0F?`
  const keycap = '[0-9#*]\\uFE0F?\\u20E3'
  const flag = '[\u{1F1E6}-\u{1F1FF}]{2}\\uFE0F?|\u{1F3F4}[\u{E0020}-\u{E007E}]+\u{E007F}'
  return `${keycap}|${flag}|${element}(\\u200D${element})*`
}

/**
 * The form of an emoji, or of a name in colons, for the OpenAPI document. It is somewhat wider than {@link isEmoji}, as no
 * regular expression of a few lines has the classes of Unicode.
 */
export const EMOJI_PATTERN = `^(:[a-z0-9_+\\-]{1,32}:|${formOf(`[${PICTURES}]`)})$`

/** The longest emoji in UTF-8: more than any flag or family has. */
export const EMOJI_BYTES = 64

const NAME = /^:[a-z0-9_+-]{1,32}:$/
const EMOJI = new RegExp(`^(?:${formOf('\\p{Extended_Pictographic}')}|\\p{Emoji_Modifier})$`, 'u')

/** Whether a text is one emoji, which is a single grapheme; or a name in colons, whose picture is the application's. */
export function isEmoji(text: string): boolean {
  if (NAME.test(text)) return true
  // In this order: a text is measured before it is matched.
  if (text.length > EMOJI_BYTES || new TextEncoder().encode(text).length > EMOJI_BYTES) return false
  return EMOJI.test(text)
}

/** What the spellings of an emoji have in common: the selectors of its text form and its coloured form may be there or not. */
export function emojiKey(emoji: string): string {
  return emoji.replace(/[\uFE0E\uFE0F]/g, '')
}
