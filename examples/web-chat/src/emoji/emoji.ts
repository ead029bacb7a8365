import { plain } from '../switch/matching.ts'

/** An emoji, as it is looked for. */
export interface Emoji {
  sign: string
  /** How many tones of skin it takes: one behind its first sign, a second one at its end. */
  tones: number
  /** Its place among the groups of Unicode. */
  group: number
  /** In the language of the page. */
  name: string
  /** What stands between colons for it, its names among them. */
  codes: readonly string[]
  /** Other words for it, each behind a space. */
  words: string
}

/** What country flags are called, by the language of the page. */
export interface FlagNames {
  flag: string
  regionOf: (code: string) => string | undefined
}

/**
 * The emoji of a packed text, in the order of Unicode.
 *
 * @param packed by `packEmoji` of `.ci/emoji.mjs`
 * @param names by `packNames`, where the page is not in English
 * @param flags in English, and where the page is not, in its language
 */
export function readEmoji(packed: string, names: string | undefined, flags: readonly FlagNames[]): Emoji[] {
  const own = names?.split('\n') ?? []
  let at = 0
  return packed.split('\n\n').flatMap((lines, group) =>
    lines.split('\n').map((line) => {
      const [first = '', label = '', codes = '', words = ''] = line.split('\t')
      const [name = '', more = ''] = own[at++]?.split('\t') ?? []
      const sign = first.slice(1)
      const emoji = { sign, tones: Number(first[0]), group }
      if (label === '') return { ...emoji, ...flagOf(sign, flags) }
      const all = [...codes.split(' '), toCode(label), toCode(name)].filter((code) => code !== '')
      return { ...emoji, name: name || label, codes: all, words: wordsOf(`${words},${more}`) }
    }),
  )
}

/** A flag of two letters, which are those of the region. */
function flagOf(sign: string, flags: readonly FlagNames[]): Pick<Emoji, 'name' | 'codes' | 'words'> {
  const code = [...sign].map((letter) => String.fromCharCode(letter.codePointAt(0)! - 0x1f1e6 + 65)).join('')
  const names = flags.map(({ flag, regionOf }) => ({ flag, region: regionOf(code) ?? code }))
  const { flag, region } = names.at(-1)!
  return {
    name: `${flag}: ${region}`,
    codes: [`flag_${code.toLowerCase()}`, ...names.map((each) => toCode(each.region))],
    words: wordsOf(names.map((each) => each.flag).join()),
  }
}

function toCode(name: string): string {
  return plain(name).replace(/[^\p{L}\p{N}+]+/gu, '_')
}

function wordsOf(list: string): string {
  return list === ',' ? '' : ` ${plain(list).replaceAll(',', ' ')}`
}

/** The emoji that a text is the beginning of a name or a word of: the best first, `max` at most. */
export function findEmoji(all: readonly Emoji[], text: string, max: number): Emoji[] {
  const words = plain(text).replaceAll('_', ' ')
  if (words === '') return []
  const code = toCode(words)
  const ranks: Emoji[][] = [[], [], [], []]
  for (const emoji of all) {
    const rank = rankOf(emoji, code, ` ${words}`)
    if (rank >= 0) ranks[rank]!.push(emoji)
  }
  return ranks.flat().slice(0, max)
}

function rankOf({ codes, words }: Emoji, code: string, word: string): number {
  if (codes.includes(code)) return 0
  if (codes.some((each) => each.startsWith(code))) return 1
  if (codes.some((each) => each.includes(`_${code}`))) return 2
  return words.includes(word) ? 3 : -1
}

const TONES = ['', '🏻', '🏼', '🏽', '🏾', '🏿']

/** An emoji in a tone of skin, where it takes one. @param tone 0 for none, 1 for the lightest of five */
export function withTone({ sign, tones }: Pick<Emoji, 'sign' | 'tones'>, tone: number): string {
  const color = TONES[tone]
  if (!color || tones === 0) return sign
  const [first, ...rest] = [...sign]
  // The tone takes the place of the selector of the colored form.
  const tail = rest[0] === '\u{FE0F}' ? rest.slice(1) : rest
  return [first, color, ...tail, tones === 2 ? color : ''].join('')
}
