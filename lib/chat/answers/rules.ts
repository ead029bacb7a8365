import type { Turn, TurnRole } from '../../context.ts'
import type { MessageDelta } from './schema.ts'

/** A message of the path that an answer continues. */
export interface Ancestor {
  role: string
  posted_by: string | null
  content: string
  /** Of an answer: what was asked. */
  prompt: string | null
  deleted_at: number | null
}

/**
 * The talk that an answer continues, oldest turn first: an answer is two turns, what was asked and what was said.
 *
 * @param path the messages from the thread's root down to the one to be written, whose prompt is the last turn;
 *   deleted ones are left out
 * @param options.bytes how much of it is told, in bytes of UTF-8; the oldest turns are left out first, the prompt and
 *   the system prompt never
 */
export function toTurns(path: Ancestor[], options: { system_prompt?: string | undefined; bytes: number }): Turn[] {
  const all = path.filter((each) => !each.deleted_at).flatMap(turnsOf)
  let room = options.bytes
  const kept: Turn[] = []
  for (const turn of all.toReversed()) {
    room -= new TextEncoder().encode(turn.content).length
    if (room < 0 && kept.length > 0) break
    kept.unshift(turn)
  }
  return options.system_prompt ? [{ role: 'system', content: options.system_prompt }, ...kept] : kept
}

function turnsOf({ role, posted_by, content, prompt }: Ancestor): Turn[] {
  const by = posted_by ? { user_id: posted_by } : {}
  const asked: Turn[] = prompt === null ? [] : [{ role: 'user', content: prompt, ...by }]
  const said: Turn = role === 'assistant' ? { role, content } : { role: role as TurnRole, content, ...by }
  return said.content ? [...asked, said] : asked
}

/** Where a text ends that has no half of a character at its end: providers may cut between two UTF-16 units. */
export function wholeLength(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}

/** The place of a chunk: which message it is of, and where that is. */
export interface ChunkPlace {
  message_id: string
  idx: number
  conversation_id: string
  root_id: string
  parent_id: string | null
  depth: number
}

/** A chunk as it goes out to readers. */
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
