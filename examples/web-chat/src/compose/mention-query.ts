import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { MENTION_START } from '../markdown/split-mentions.ts'
import { hasWords } from '../switch/matching.ts'
import type { Edit } from './edit.ts'

/** How many people are offered at once; of assistants, all are. */
const MAX_CHOICES = 6

/** The longest name that is looked for. */
const MAX_QUERY = 64

/** Signs and marks before an `@` that are looked at. */
const MAX_BEFORE = 24

const TYPED = new RegExp(`${MENTION_START}([^\\s@]{0,${MAX_QUERY}})$`, 'u')

/** A name that is being typed: its beginning, and where its `@` is. */
export interface MentionQuery {
  start: number
  query: string
}

/** What can be mentioned: a participant, or all of them. */
export interface MentionChoice {
  id: string
  /** What stands behind the `@`. */
  username?: string
  name: string
  /** An assistant is addressed instead. */
  assistant?: OfferedAssistant
}

/** The name that is being typed before the caret: behind an `@` that is not inside of a word, an address or a path. */
export function mentionQueryOf(text: string, caret: number): MentionQuery | undefined {
  // With the `@`, and what is before that: no more of a long text is looked at.
  const from = Math.max(0, caret - MAX_QUERY - MAX_BEFORE)
  const match = TYPED.exec(text.slice(from, caret))
  return match ? { start: from + match.index, query: match[1]! } : undefined
}

/** Those whose username, or a word of whose name, begins so: assistants first, then usernames. */
export function matching(choices: readonly MentionChoice[], query: string): MentionChoice[] {
  const wanted = query.toLowerCase()
  const begins = (text: string) => text.toLowerCase().startsWith(wanted)
  const rankOf = ({ username = '', name, assistant }: MentionChoice) => {
    const isNamed = hasWords(name, query)
    if (assistant) return isNamed || begins(username) ? 0 : 3
    return begins(username) ? 1 : isNamed ? 2 : 3
  }
  const ranked = choices.map((choice) => ({ choice, rank: rankOf(choice) })).filter(({ rank }) => rank < 3)
  const sorted = ranked.sort((one, other) => one.rank - other.rank)
  const assistants = sorted.filter(({ rank }) => rank === 0).length
  return sorted.slice(0, Math.max(MAX_CHOICES, assistants + 1)).map(({ choice }) => choice)
}

/** Puts a name, or nothing, in the place of what was typed of it. */
export function mentionEdit(text: string, { start, query }: MentionQuery, username: string | undefined): Edit {
  const end = start + 1 + query.length
  const after = text.slice(end)
  if (username === undefined)
    return { from: start, to: end + after.length - after.trimStart().length, text: '', start, end: start }
  const caret = start + username.length + 2
  // The space behind it may be there.
  const space = after.startsWith(' ') ? '' : ' '
  return { from: start, to: end, text: `@${username}${space}`, start: caret, end: caret }
}
