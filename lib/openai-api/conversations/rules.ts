import type { Part, PartChange } from '../../chat/answers/schema-parts.ts'
import type { Metadata } from '../../chat/conversations/schema-metadata.ts'
import type { Message } from '../../chat/messages/schema.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { SECOND } from '../../core/units.ts'
import type { ChatRow } from '../../protocols/chats/store.ts'
import type { RowStep } from '../../protocols/rows/rules.ts'
import { toGivenName } from '../responses/rules-ids.ts'
import { createItems, type FileUrl } from '../responses/rules-items.ts'
import { questionItem } from '../responses/rules-questions.ts'
import type { ConversationItem } from '../responses/schema.ts'
import type { ConversationObject } from './schema.ts'

/** A named thread as a conversation of OpenAI. */
export function toConversation({ name, conversation_id, metadata, created_at }: ChatRow): ConversationObject {
  return {
    id: toGivenName(name)!,
    object: 'conversation',
    created_at: Math.floor(created_at / SECOND),
    metadata: { ...(metadata === null ? {} : (JSON.parse(metadata) as Metadata)), conversation_id },
  }
}

/** A message as items: an answer as its question and its output, with values cut as lists have them. */
export function toItems(message: Message, toFileUrl: FileUrl): ConversationItem[] {
  const { id, role, prompt, content, parts, status, author_kind } = message
  const isWritten = role === 'assistant' || author_kind === 'bot'
  if (!isWritten) return [questionItem(message)]
  const items = createItems(id, toFileUrl)
  const shown: Part[] = parts ?? (content === '' ? [] : [{ id: 0, type: 'text', text: content }])
  let from = 0
  for (const part of shown) {
    for (const step of stepsOf(part, from)) items.take(step)
    if (part.type === 'text') from += part.text.length
  }
  if (!isUnderWay({ status })) items.close()
  return [...(prompt ? [questionItem(message)] : []), ...items.list()]
}

/** The steps that have made a part: a call that waited for participants was asked for before. */
function stepsOf(part: Part, from: number): RowStep[] {
  if (part.type === 'text')
    return [{ type: 'text', idx: part.id, part_id: part.id, text: part.text, begins: true, is_first: from === 0, from }]
  const step = (as: Part, before?: Part): RowStep => ({
    type: 'part',
    idx: part.id,
    change: as as PartChange,
    part: as,
    before,
  })
  if (part.type !== 'tool' || !part.approval) return [step(part)]
  const waiting: Part = { ...part, state: 'waiting' }
  return [step(waiting), step(part, waiting)]
}
