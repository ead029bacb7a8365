import { MAX_LENGTH } from './lengths.ts'

/**
 * Classes of characters, each as the inside of a class in a regular expression. They are written out, not `\p{…}`: no
 * version of Unicode changes what a text may be.
 */
const CONTROLS = '\\u0000-\\u001F\\u007F-\\u009F'
const SPACES = '\\u0020\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000'
const LINE_BREAKS = '\\u2028\\u2029'
/**
 * Characters that change the direction of the text after them (Unicode Bidirectional Algorithm, sections 2.1 to 2.4).
 */
const TURNS = '\\u202A-\\u202E\\u2066-\\u2069'
/**
 * Formats, variation selectors, fillers and other invisible characters (`Cf`, `Default_Ignorable_Code_Point`, U+2800).
 */
const SHAPELESS =
  '\\u00AD\\u034F\\u0600-\\u0605\\u061C\\u06DD\\u070F\\u0890\\u0891\\u08E2\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F' +
  '\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u2800\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFFB' +
  '\u{110BD}\u{110CD}\u{13430}-\u{1343F}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}'

/**
 * The invisible characters that shape the character before them, such as joiners of emoji and variation selectors.
 * After ASCII letters, and alone, they show nothing.
 */
const SHAPING = '\\u180B-\\u180D\\u180F\\u200C\\u200D\\uFE00-\\uFE0F\u{E0020}-\u{E007F}\u{E0100}-\u{E01EF}'

const UNSEEN = `${CONTROLS}${LINE_BREAKS}${SHAPELESS}`
const INVISIBLE = `${CONTROLS}${SPACES}${SHAPELESS}`
/** The characters that `String.prototype.trim` removes. */
const TRIMMED = `\\u0009-\\u000D${SPACES}\\uFEFF`
const DISTURBING = `${CONTROLS}${LINE_BREAKS}${TURNS}`

/** A character of a title or of the name of a file, with what shapes it; an emoji of a digit is one, too. */
const labelCharacter = (excluded = '') =>
  `([^${UNSEEN}${excluded}]|[#*0-9]\\uFE0F\\u20E3|[^\\u0000-\\u00A0${SPACES}${SHAPELESS}][${SHAPING}]+)`

/** What texts are checked against, of which {@link PATTERNS} covers only most. */
export const RULES = {
  visible: `[^${INVISIBLE}]`,
  username: `^[^${UNSEEN}${SPACES}]([^${UNSEEN}]*[^${UNSEEN}${SPACES}])?$`,
  label: `^[^${DISTURBING}]*[^${INVISIBLE}][^${DISTURBING}]*$`,
  title: `^${labelCharacter()}*$`,
  /** No separators of paths, and, without outer spaces, neither empty nor the folder itself or the one above. */
  file_name: `^(?![${SPACES}]*(\\.{1,2})?[${SPACES}]*$)${labelCharacter('/\\\\')}+$`,
} as const

/** Ranges of INVISIBLE, UNSEEN and DISTURBING that fit into a pattern which people read. */
const MOST_INVISIBLE = '\\u0000-\\u0020\\u007F-\\u00A0\\u2000-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u3000\\uFEFF'
const MOST_UNSEEN = `${CONTROLS}\\u00AD\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uFEFF`
const MOST_DISTURBING = `${CONTROLS}\\u2028-\\u202E\\u2066-\\u2069`

const VISIBLE_WITHIN = `[^\\u0000]*[^${MOST_INVISIBLE}][^\\u0000]*`
const LABEL_WITHIN = `[^${MOST_DISTURBING}]*[^${MOST_INVISIBLE}][^${MOST_DISTURBING}]*`

/**
 * Patterns for input texts, as in JSON Schema: they match the texts that both databases store unchanged. Tools read them
 * with the flag `u` and without it, so none has a range beyond U+FFFF, and people read them, so none is long. Those of
 * names in {@link RULES} match all texts that are allowed, and a few others: their descriptions say in words what is.
 */
export const PATTERNS = {
  storable: '^[^\\u0000]*$',
  visible: `^${VISIBLE_WITHIN}$`,
  visible_or_empty: `^(${VISIBLE_WITHIN})?$`,
  username: `^(?! )[^${MOST_UNSEEN}]*[^${MOST_INVISIBLE}]$`,
  label: `^${LABEL_WITHIN}$`,
  label_or_empty: `^(${LABEL_WITHIN})?$`,
  title: `^[^${MOST_UNSEEN}]*$`,
  file_name: `^(?! *\\.{0,2} *$)[^/\\\\${MOST_UNSEEN}]+$`,
  /** A dot-atom and a host name (RFC 5322, RFC 1035), with optional spaces around it. */
  email:
    "^[ \\t]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+)*" +
    '@[A-Za-z0-9]([A-Za-z0-9\\-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9\\-]*[A-Za-z0-9])?)*[ \\t]*$',
  /** At least two characters, without the spaces around them. */
  search: `^([^\\u0000]*[^\\u0000${TRIMMED}][^\\u0000]*){2}$`,
  /** No empty segment: `//host` is another site, and so is `/.//host` after its dots are resolved. */
  local_path: `^/([^/\\\\?#${CONTROLS}${LINE_BREAKS}]+(/[^/\\\\?#${CONTROLS}${LINE_BREAKS}]+)*/?)?([?#][^\\\\${CONTROLS}${LINE_BREAKS}]*)?$`,
  /**
   * Passwords of at most 72 bytes in any case. JSON Schema cannot count bytes, so a text that mixes characters of one
   * byte and of several is matched only up to the length it could have if all had as many.
   */
  password: '^([\\u0001-\\u007F]{8,72}|[\\u0001-\\u024F]{8,36}|[\\u0001-\\uFFFF]{8,24}|[^\\u0000]{8,18})$',
} as const

const pattern = (source: string) => new RegExp(source, 'u')
const VISIBLE = pattern(RULES.visible)
const HIDDEN = pattern(`[${UNSEEN}]`)
const LABEL = pattern(RULES.label)
const TITLE = pattern(RULES.title)
const FILE_NAME = pattern(RULES.file_name)
const USERNAME = pattern(RULES.username)
const EMAIL = pattern(PATTERNS.email)
const LOCAL_PATH = pattern(PATTERNS.local_path)

/** Whether a text has a visible character: spaces, controls and zero-width characters are not. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text)
}

/** Whether a text is visible, and has no character that disturbs the text around it. */
export function isLabel(text: string): boolean {
  return LABEL.test(text)
}

/** Whether a text can be a title, without its outer spaces: it has no control, bidirectional or invisible character. */
export function isTitle(text: string): boolean {
  return TITLE.test(text)
}

/** Whether a text can be the name of a file, without its outer spaces: a title that is not empty, and no path. */
export function isFileName(text: string): boolean {
  return FILE_NAME.test(text)
}

/** Whether a text can be a username: every character is visible, and there are no outer spaces. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text)
}

/** Whether a text, without outer spaces, is an email address. */
export function isEmail(text: string): boolean {
  return EMAIL.test(text)
}

/** Whether a text is a path of this service's own site: no browser may read it as an address of another site. */
export function isLocalPath(text: string): boolean {
  return LOCAL_PATH.test(text)
}

/** The keys of names that address several users: no new user has one. */
export const RESERVED_NAMES: readonly string[] = ['all', 'everyone', 'here', 'channel']

/** Whether a name addresses several users, in any spelling that has its key. */
export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.includes(uniqueKey(name))
}

/** Removes invisible characters and characters that change the text direction. */
export function withoutUnseen(text: string): string {
  return text.replaceAll(new RegExp(HIDDEN, 'gu'), '')
}

/**
 * The key under which two names or addresses are equal. Computed here only: `lower()` of the databases differ. A text that
 * is longer than each of them may be equals none, and is not normalised.
 */
export function uniqueKey(name: string): string {
  const trimmed = name.trim()
  return trimmed.length > MAX_LENGTH.email ? trimmed : trimmed.normalize('NFKC').toLowerCase()
}
