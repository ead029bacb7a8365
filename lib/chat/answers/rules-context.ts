import type { GivenPart, Turn, TurnRole } from '../../context.ts'
import { filesMade, filesOfQuestion } from '../attachments/rules.ts'
import type { Attachment } from '../attachments/schema.ts'
import type { ContextTurn } from './schema-context.ts'

/** When the turns of users begin with their names: where several write, always, or never. */
export type Names = 'auto' | 'always' | 'never'

/** A message before an answer. */
export interface Ancestor {
  role: string
  posted_by: string | null
  content: string
  /** For an answer: its prompt. */
  prompt: string | null
  deleted_at: number | null
  /** The list of its files, as JSON. */
  attachment_list?: string | null
  /** The message that it quotes, if that is not deleted. */
  quoted_text?: { content: string; posted_by: string | null } | undefined
  /** For an answer that has others than text: its parts as an assistant gets them. */
  given_parts?: GivenPart[]
}

/**
 * The turns before an answer, oldest first: an answer is two turns, its prompt and its text. What a message quotes is a turn
 * before it.
 *
 * @param path the messages from the thread's root down to the answer to write, whose prompt is the last turn; deleted
 *   ones are left out
 * @param options.bytes the maximum size in bytes of UTF-8; the oldest turns are left out first, the prompt and the
 *   system prompt never
 * @param options.context what the last question came with: the turns right before it
 * @param options.names of users, by id, with which their turns begin
 */
export function toTurns(path: Ancestor[], options: TurnOptions): Turn[] {
  const before = path
    .filter((message) => !message.deleted_at)
    .flatMap(turnsOf)
    .map((turn) => named(turn, options.names))
  const all = [...before.slice(0, -1), ...(options.context ?? []), ...before.slice(-1)]
  let room = options.bytes
  const kept: Turn[] = []
  for (const turn of all.toReversed()) {
    room -= bytesOf(turn)
    if (room < 0 && kept.length > 0) break
    kept.unshift(turn)
  }
  return options.system_prompt ? [{ role: 'system', content: options.system_prompt }, ...kept] : kept
}

/** The size of a turn, in bytes: of its text and, in JSON, of its other parts. */
export function bytesOf({ content, parts = [] }: Turn): number {
  return Buffer.byteLength(content) + bytesOfParts(parts)
}

/** The size of parts in JSON, without texts. */
export function bytesOfParts(parts: readonly GivenPart[]): number {
  const others = parts.filter(({ type, provider_data }) => type !== 'text' || provider_data !== undefined)
  return others.reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(withoutText(part))), 0)
}

const withoutText = (part: GivenPart) => (part.type === 'text' ? part.provider_data : part)

/** What turns are made with. */
export interface TurnOptions {
  system_prompt?: string | undefined
  bytes: number
  context?: readonly ContextTurn[]
  names?: ReadonlyMap<string, string>
}

/** A turn of a user that begins with the name. */
function named(turn: Turn, names: TurnOptions['names']): Turn {
  const name = turn.role === 'user' && turn.user_id !== undefined ? names?.get(turn.user_id) : undefined
  return name === undefined ? turn : { ...turn, content: `${name}: ${turn.content}`, name }
}

function turnsOf({ role, posted_by, content, prompt, attachment_list, quoted_text, given_parts }: Ancestor): Turn[] {
  const by = posted_by ? { user_id: posted_by } : {}
  const asked = prompt === null ? null : filesOfQuestion(attachment_list)
  const question: Turn[] =
    prompt === null ? [] : [{ role: 'user', content: prompt, ...by, ...(asked && { attachments: filesOf(asked) }) }]
  const said: Turn = role === 'assistant' ? { role, content } : { role: role as TurnRole, content, ...by }
  const own = prompt === null ? attachment_list : filesMade(attachment_list)
  if (own) said.attachments = filesOf(own)
  // What a model only thought before it failed is no turn.
  if (given_parts?.some(({ type }) => type !== 'reasoning')) said.parts = given_parts
  const quote = quoted_text ? [toQuoteTurn(quoted_text)] : []
  return said.content || said.attachments || said.parts ? [...quote, ...question, said] : [...quote, ...question]
}

/** A quoted message, each line marked as in mails: it is what the next turn refers to. */
function toQuoteTurn({ content, posted_by }: NonNullable<Ancestor['quoted_text']>): Turn {
  const lines = content.split(/\r\n|\r|\n/).map((line) => `> ${line}`)
  return { role: 'user', content: lines.join('\n'), ...(posted_by && { user_id: posted_by }) }
}

/** What an assistant gets to know of files. */
function filesOf(list: string): NonNullable<Turn['attachments']> {
  return (JSON.parse(list) as Attachment[]).map(({ id, name, type, size }) => ({ id, name, type, size }))
}

/** The users whose names the turns have: none where one alone writes, unless names are always wanted. */
export function writersOf(messages: readonly Ancestor[], names: Names): string[] {
  if (names === 'never') return []
  const asked = messages.filter(({ role, prompt, deleted_at }) => !deleted_at && (role === 'user' || prompt !== null))
  const writers = [...new Set(asked.flatMap(({ posted_by }) => posted_by ?? []))]
  return names === 'auto' && writers.length < 2 ? [] : writers
}

/** What tells where a message is, and which answer it is another one for. */
interface Placed {
  id: string
  root_id: string
  path: string
  variant_of?: string | null
}

/**
 * The messages without those of other branches: of each set of variants the one above the answer stays, or else the latest, with
 * what is below it.
 *
 * @param messages latest first
 */
export function onPath<Message extends Placed>(messages: readonly Message[], answer: Placed): Message[] {
  const isAbove = ({ root_id, path }: Placed) => root_id === answer.root_id && answer.path.startsWith(path)
  const sets = new Map<string, Placed[]>()
  for (const message of [answer, ...messages]) {
    const first = message.variant_of
    if (first) sets.set(first, [...(sets.get(first) ?? []), message])
  }
  for (const message of messages) sets.get(message.id)?.push(message)
  const left: Placed[] = []
  for (const set of sets.values()) {
    const kept = set.find(isAbove) ?? set[0]!
    left.push(...set.filter((each) => each !== kept))
  }
  if (left.length === 0) return [...messages]
  const isLeft = ({ root_id, path }: Placed) =>
    left.some((each) => each.root_id === root_id && path.startsWith(each.path))
  return messages.filter((message) => !isLeft(message))
}
