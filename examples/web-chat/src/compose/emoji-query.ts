import { MENTION_START } from '../markdown/split-mentions.ts'
import type { Edit } from './edit.ts'

/** The longest name that is looked for, and what is looked at before its colon. */
const MAX_QUERY = 48
const MAX_BEFORE = 24

const START = MENTION_START.replace(/@$/, ':')
const TYPED = new RegExp(`${START}([\\p{L}\\p{M}\\p{N}_+-]{2,${MAX_QUERY}})(:?)$`, 'u')

/** The name of an emoji that is being typed: where its colon is, its beginning, and whether it is complete. */
export interface EmojiQuery {
  start: number
  query: string
  isComplete: boolean
}

/** The name that is being typed before the caret, of two signs at least: not inside of a word, a time or an address, nor in code. */
export function emojiQueryOf(text: string, caret: number): EmojiQuery | undefined {
  const from = Math.max(0, caret - MAX_QUERY - MAX_BEFORE - 2)
  const match = TYPED.exec(text.slice(from, caret))
  if (!match || isInCode(text.slice(0, caret))) return undefined
  return { start: from + match.index, query: match[1]!, isComplete: match[2] === ':' }
}

/** Puts an emoji in the place of what was typed of its name; behind one that was chosen there is a space. */
export function emojiEdit(text: string, { start, query, isComplete }: EmojiQuery, sign: string): Edit {
  const to = start + 1 + query.length + (isComplete ? 1 : 0)
  const hasSpace = isComplete || text.startsWith(' ', to)
  const caret = start + sign.length + (isComplete ? 0 : 1)
  return { from: start, to, text: hasSpace ? sign : `${sign} `, start: caret, end: caret }
}

/** Whether a fence, or in the last line a code, is open at the end of a text. */
function isInCode(text: string): boolean {
  const fences = text.match(/^ {0,3}```/gm)?.length ?? 0
  const line = text.slice(text.lastIndexOf('\n') + 1)
  return fences % 2 === 1 || (line.match(/`/g)?.length ?? 0) % 2 === 1
}
