import type { Turn, TurnRole } from '../../context.ts'
import type { Attachment } from '../attachments/schema.ts'
import type { MessageDelta } from './schema.ts'

/** A message on the path from the root to an answer. */
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
}

/**
 * The turns before an answer, oldest first: an answer is two turns, its prompt and its text. What a message quotes is a turn
 * before it.
 *
 * @param path the messages from the thread's root down to the answer to write, whose prompt is the last turn; deleted
 *   ones are left out
 * @param options.bytes the maximum size in bytes of UTF-8; the oldest turns are left out first, the prompt and the
 *   system prompt never
 */
export function toTurns(path: Ancestor[], options: { system_prompt?: string | undefined; bytes: number }): Turn[] {
  const all = path.filter((message) => !message.deleted_at).flatMap(turnsOf)
  let room = options.bytes
  const kept: Turn[] = []
  for (const turn of all.toReversed()) {
    room -= new TextEncoder().encode(turn.content).length
    if (room < 0 && kept.length > 0) break
    kept.unshift(turn)
  }
  return options.system_prompt ? [{ role: 'system', content: options.system_prompt }, ...kept] : kept
}

function turnsOf({ role, posted_by, content, prompt, attachment_list, quoted_text }: Ancestor): Turn[] {
  const by = posted_by ? { user_id: posted_by } : {}
  const question: Turn[] = prompt === null ? [] : [{ role: 'user', content: prompt, ...by }]
  const said: Turn = role === 'assistant' ? { role, content } : { role: role as TurnRole, content, ...by }
  if (attachment_list) said.attachments = filesOf(attachment_list)
  const quote = quoted_text ? [toQuoteTurn(quoted_text)] : []
  return said.content || said.attachments ? [...quote, ...question, said] : [...quote, ...question]
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

/** The place of a chunk: its message, and the place of that. */
export interface ChunkPlace {
  message_id: string
  idx: number
  conversation_id: string
  root_id: string
  parent_id: string | null
  depth: number
}

/** A chunk as it is sent to readers. */
export function toDelta({ message_id, idx, parent_id, ...place }: ChunkPlace, content: string): MessageDelta {
  return {
    id: `${message_id}:${idx}`,
    object: 'chat.completion.chunk',
    root_id: place.root_id,
    message_id,
    conversation_id: place.conversation_id,
    ...(parent_id && { parent_id }),
    depth: place.depth,
    choices: [{ index: 0, delta: { ...(idx === 0 && { role: 'assistant' }), content } }],
  }
}
