/**
 * What a browser may lay out in one step: a message that weighs more is shown in pieces. A weight of 1 is a letter of a line
 * of Latin ones, 0.25 µs; all of this is about 30 ms on a slow laptop.
 */
export const MAX_WEIGHT = 120_000

/** The most lines of that weight. */
export const MAX_LINES = 2000

/** An element, such as a cell. */
export const ELEMENT_WEIGHT = 72

/** The end of a line. */
export const LINE_WEIGHT = MAX_WEIGHT / MAX_LINES

/** Where letters of another script begin, and another font or direction with them. */
const RUN_WEIGHT = 30

/** A tab, whose width depends on what is before it. */
const TAB_WEIGHT = 12

/** A letter of a script whose words a browser has to look for, or its font: of twice as many it takes four times as long. */
const OTHER_WEIGHT = 48

/** A space of Chinese, for which browsers look for longest. */
const WIDE_SPACE_WEIGHT = 4 * OTHER_WEIGHT

/** A word with other letters than those of ASCII takes long to break into lines if it is longer: of twice the letters, four times. */
const MAX_WORD = 200
const LONG_WORD_WEIGHT = 12

/** A letter from right to left: words are read again where a line ends. */
const LEFTWARD_WEIGHT = 6

/** Of a tab, a line's end, a `@`, which may begin a mention, and that space: they stand between letters of any script. */
const OWN_WEIGHTS: Readonly<Record<number, number>> = {
  9: TAB_WEIGHT,
  10: LINE_WEIGHT,
  64: ELEMENT_WEIGHT,
  12288: WIDE_SPACE_WEIGHT,
}

/** The first and the last letters of scripts; others are none. */
const SCRIPTS: [script: Script, from: number, to: number][] = [
  ['common', 0x20, 0x20],
  // Marks and numbers, too: between letters of others they are another font or direction.
  ['latin', 0x21, 0x7e],
  ['latin', 0xa0, 0x24f],
  ['latin', 0x300, 0x36f],
  ['greek', 0x370, 0x3ff],
  ['cyrillic', 0x400, 0x52f],
  ['hebrew', 0x590, 0x5ff],
  // Without its numbers.
  ['arabic', 0x600, 0x65f],
  ['arabic', 0x66a, 0x6ef],
  ['latin', 0x1e00, 0x1eff],
  ['sign', 0x2010, 0x2027],
  ['sign', 0x2190, 0x25ff],
]

type Script = 'common' | 'latin' | 'greek' | 'cyrillic' | 'hebrew' | 'arabic' | 'sign' | 'other'

/** What is common may stand in a line of any script. */
function scriptOf(code: number): Script {
  if (code > LAST_CODE) return 'other'
  return SCRIPTS.find(([, from, to]) => code >= from && code <= to)?.[0] ?? 'other'
}

const LAST_CODE = Math.max(...SCRIPTS.map(([, , to]) => to))

const ASCII = Array.from({ length: 0x80 }, (_, code) => scriptOf(code))

/** Weighs a text letter by letter. */
interface Scale {
  /** Of the letters before. */
  script: Script
  /** Of the word, from the first one on that is not of ASCII. */
  letters: number
  weight: number
}

function add(scale: Scale, code: number): void {
  const own = OWN_WEIGHTS[code]
  if (own !== undefined) {
    scale.weight += own
    if (code !== 0x40) scale.letters = 0
    return
  }
  const script = ASCII[code] ?? scriptOf(code)
  if (script === 'other') scale.weight += otherWeight(code)
  else scale.weight += isSameRun(scale.script, script) ? 1 : 1 + RUN_WEIGHT
  if (script === 'common') scale.letters = 0
  else if (scale.letters > 0 || code > 0x7e) scale.letters++
  if (script !== 'other' && scale.letters > MAX_WORD) scale.weight += LONG_WORD_WEIGHT
  if (script === 'hebrew' || script === 'arabic') scale.weight += LEFTWARD_WEIGHT
  if (script !== 'common' || scale.script === 'other') scale.script = script
}

function otherWeight(code: number): number {
  // The two halves of a letter stay together.
  if (code >= 0xd800 && code <= 0xdbff) return 2 * OTHER_WEIGHT
  return code >= 0xdc00 && code <= 0xdfff ? 0 : OTHER_WEIGHT
}

function isSameRun(before: Script, script: Script): boolean {
  return before !== 'other' && (script === 'common' || before === 'common' || script === before)
}

/** What it takes to lay a text out, as {@link MAX_WEIGHT} has it. */
export function weigh(text: string): number {
  const scale: Scale = { script: 'common', letters: 0, weight: 0 }
  for (let at = 0; at < text.length; at++) add(scale, text.charCodeAt(at))
  return scale.weight
}

/** The ends of lines in a text. */
export function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** Behind which a line may end. */
const WORD_ENDS = ' \t、。，'

/** A place to cut, and the weight before it. */
interface Place {
  at: number
  weight: number
}

/** A text in pieces that weigh no more than that: cut behind a line, if there is one, or a word. */
export function cutText(text: string, max = MAX_WEIGHT): string[] {
  const pieces: string[] = []
  const scale: Scale = { script: 'common', letters: 0, weight: 0 }
  let start = 0
  let line: Place | undefined
  let word: Place | undefined
  for (let at = 0; at < text.length; at++) {
    const { weight } = scale
    add(scale, text.charCodeAt(at))
    if (scale.weight > max) {
      // One in the first half would leave little of the piece.
      const place = [line, word].find((each) => each && each.weight > max / 2) ?? { at, weight }
      pieces.push(text.slice(start, place.at))
      start = place.at
      scale.weight -= place.weight
      line = word = undefined
    }
    const end = { at: at + 1, weight: scale.weight }
    if (text[at] === '\n') line = end
    else if (WORD_ENDS.includes(text[at]!)) word = end
  }
  return start < text.length || pieces.length === 0 ? [...pieces, text.slice(start)] : pieces
}
