/** The blocks of the characters that an emoji begins with, in all versions of Unicode, as the inside of a class. */
const PICTURES =
  '\\u00A9\\u00AE\\u203C\\u2049\\u2122\\u2139\\u2194-\\u21AA\\u2300-\\u24C2\\u25AA-\\u27BF\\u2934-\\u2935' +
  '\\u2B05-\\u2B55\\u3030-\\u303D\\u3297-\\u3299\u{1F000}-\u{1F1E5}\u{1F200}-\u{1FFFD}'

/** The blocks of those that may follow in the same grapheme: marks, selectors, skin tones, tags. */
const MARKS =
  '\\u0300-\\u1DFF\\u200C-\\u200D\\u20D0-\\u20FF\\u2CEF-\\u2DFF\\u302A-\\u302F\\u3099-\\u309A\\uA66F-\\uABED\\uFB1E' +
  '\\uFE00-\\uFE2F\\uFF9E-\\uFF9F\u{101FD}-\u{1E94A}\u{1F3FB}-\u{1F3FF}\u{E0020}-\u{E01EF}'

/**
 * The form of an emoji, or of a name in colons, for the OpenAPI document. It is somewhat wider than {@link isEmoji}, as no
 * regular expression of a few lines has the classes of Unicode.
 */
export const EMOJI_PATTERN =
  `^(:[a-z0-9_+\\-]{1,32}:|[0-9#*]\\uFE0F?\\u20E3|[\u{1F1E6}-\u{1F1FF}]{2}[${MARKS}]*|` +
  `[${PICTURES}][${MARKS}]*(\\u200D[${PICTURES}][${MARKS}]*)*)$`

/** The longest emoji in UTF-8: more than any flag or family has. */
export const EMOJI_BYTES = 64

const NAME = /^:[a-z0-9_+-]{1,32}:$/
const KEYCAP = /^[0-9#*]\uFE0F?\u20E3$/

/** A picture, or the two letters of a flag: one alone is no emoji. */
const BEGINNING = /^(?:\p{RI}{2}|(?!\p{RI})[\p{Extended_Pictographic}\p{Emoji_Presentation}])/u

/**
 * Whether a text is one emoji: a single grapheme that begins with a picture or a flag, or is a keycap; or a name in
 * colons, whose picture is the application's.
 */
export function isEmoji(text: string): boolean {
  if (NAME.test(text) || KEYCAP.test(text)) return true
  // In this order: a text is measured before it is divided.
  if (text.length > EMOJI_BYTES || new TextEncoder().encode(text).length > EMOJI_BYTES) return false
  return BEGINNING.test(text) && [...new Intl.Segmenter('en').segment(text)].length === 1
}

/** What two spellings of an emoji have in common: the selector of the coloured form, U+FE0F, may be there or not. */
export function emojiKey(emoji: string): string {
  return emoji.replaceAll('\uFE0F', '')
}
