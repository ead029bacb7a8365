/** The usernames that a message mentions, in lower case, and whether it is that of the reader. */
export type MentionedNames = ReadonlyMap<string, boolean>

/** A mention in a text, as it is written. */
export interface Mention {
  text: string
  isSelf: boolean
}

/** The patterns of names: a message may have thousands of texts, and a pattern of many names takes long to make. */
const patterns = new WeakMap<MentionedNames, RegExp>()

/** A text in parts: what stands between mentions, and these. The longest name counts, and it ends where a word does. */
export function splitMentions(text: string, names: MentionedNames): (string | Mention)[] {
  const parts: (string | Mention)[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(patternFor(names))) {
    if (index > end) parts.push(text.slice(end, index))
    parts.push({ text: found, isSelf: names.get(found.slice(1).toLowerCase()) ?? false })
    end = index + found.length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

/** Where a text has mentions whose names have marks of Markdown: what is in them is no mark. */
export function mentionsWithMarks(text: string, names: MentionedNames): { start: number; end: number }[] {
  if (!hasMarks(names) || !text.includes('@')) return []
  return [...text.matchAll(patternFor(names))]
    .filter(([found]) => MARK.test(found))
    .map(({ 0: found, index }) => ({ start: index, end: index + found.length }))
}

/** Whether a name has a mark of Markdown. */
export function hasMarks(names: MentionedNames): boolean {
  return names.size > 0 && MARK.test([...names.keys()].join(''))
}

const MARK = /[\\`[\]!<&*_~]/

function patternFor(names: MentionedNames): RegExp {
  const pattern = patterns.get(names) ?? patternOf(names)
  patterns.set(names, pattern)
  return pattern
}

function patternOf(names: MentionedNames): RegExp {
  const all = [...names.keys()].sort((one, other) => other.length - one.length).map(escapeOf)
  return new RegExp(`${MENTION_START}(?:${all.join('|')})(?!\\p{M}|[-.@_]{0,9}${LETTER})`, 'giu')
}

/** A letter or a digit of a word. Those of scripts without spaces neither prevent a mention nor continue a name. */
const LETTER =
  '(?![\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmr}\\p{scx=Mymr}])[\\p{L}\\p{N}]'

/** The pattern of an `@` that is not inside of a word, an address or a path. */
export const MENTION_START = `(?<!(?:[@./-]|${LETTER}\\p{M}{0,9})_{0,9})@`

/** A name as a part of a pattern, in which `-` needs no escape outside of a class. */
function escapeOf(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
