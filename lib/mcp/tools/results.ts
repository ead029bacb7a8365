import type { Part } from '../../chat/answers/schema-parts.ts'
import type { Message } from '../../chat/messages/schema.ts'
import type { Context } from '../../context.ts'
import { bounded, MAX_LIST_BYTES, MAX_MESSAGES } from '../bounds.ts'
import type { Json } from '../protocol.ts'
import { fileLinks, threadLink } from './shapes.ts'
import type { ResourceLink, ToolResult } from './tool.ts'

/** The value of a result as data and as text, and what it leads to. */
export function toResult({ value, links = [] }: ToolResult): Json {
  const text = { type: 'text', text: JSON.stringify(value) }
  return { content: [text, ...links.map((link) => ({ type: 'resource_link', ...link }))], structuredContent: value }
}

/** The result of the tools that return an answer. */
export const answerResult = (ctx: Context, message: Message): Json => toResult(toAnswer(ctx, message))

/** An answer as a result. */
export function toAnswer(ctx: Context, message: Message): ToolResult {
  const { id, root_id, conversation_id, status, content, parts, finish_reason, failure, cut } = bounded(
    message,
    MAX_LIST_BYTES,
  )
  const value = {
    ...{ message_id: id, root_id, conversation_id, status, content },
    ...(parts && { parts }),
    ...(finish_reason !== undefined && { finish_reason }),
    ...(failure !== undefined && { failure }),
    ...(cut !== undefined && { cut }),
  }
  const sources = (message.parts ?? []).flatMap(sourceLink).slice(0, MAX_MESSAGES)
  return { value, links: [threadLink(message), ...sources, ...fileLinks(ctx, [message])] }
}

/** The address of a source. */
function sourceLink(part: Part): ResourceLink[] {
  if (part.type !== 'source' || part.url === undefined) return []
  return [{ uri: part.url, name: part.title ?? part.url, ...(part.media_type && { mimeType: part.media_type }) }]
}
