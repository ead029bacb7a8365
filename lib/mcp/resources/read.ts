import { get as getMessage } from '../../chat/messages/service.ts'
import { tree } from '../../chat/threads/service.ts'
import { list as timeline } from '../../chat/timeline/service.ts'
import type { Context, Endpoint } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { bind } from '../../core/use-case.ts'
import { withAuthors } from '../authors.ts'
import { MAX_MESSAGES } from '../bounds.ts'
import type { McpMethod } from '../call.ts'
import { insufficientScope, invalidParams, RpcError } from '../failures.ts'
import { takeFromLimit } from '../limit.ts'
import { RPC } from '../protocol.ts'
import { type AuthoredMessage, MAX_TEXT_BYTES, quoted, toMarkdown } from './markdown.ts'
import { parseUri, type Resource, toUri } from './uri.ts'

/** The route of the use-case by which a resource is read. */
const ROUTES: Record<Resource['kind'], Endpoint> = {
  conversation: { method: 'GET', path: '/api/conversations/{conversation_id}/messages' },
  thread: { method: 'GET', path: '/api/threads/{root_id}/tree' },
  message: { method: 'GET', path: '/api/messages/{message_id}' },
}

/** Reads a resource: its messages as Markdown, and the URI of the rest. */
export const readResource: McpMethod = {
  revisions: 'all',
  ttl_ms: 0,
  prepare({ ctx, actor, scopes, request, revision }) {
    const { uri } = request.params
    if (typeof uri !== 'string') throw invalidParams('"uri" must be a text.')
    if (!scopes.has('chat:read')) throw insufficientScope('chat:read')
    const missing = () =>
      new RpcError(revision.is_modern ? RPC.invalid_params : RPC.resource_not_found, 'There is no such resource.', {
        data: { uri },
      })
    const resource = parseUri(uri)
    if (!resource) throw missing()
    return {
      async run() {
        await takeFromLimit(ctx, actor, ROUTES[resource.kind])
        try {
          return { contents: [{ uri, mimeType: 'text/markdown', text: await textOf(ctx, actor, resource) }] }
        } catch (error) {
          if (error instanceof ChatError && [403, 404, 422].includes(error.status)) throw missing()
          throw error
        }
      },
    }
  },
}

/** @throws ChatError `not_found`, `invalid_cursor` */
async function textOf(ctx: Context, actor: Actor, resource: Resource): Promise<string> {
  switch (resource.kind) {
    case 'conversation':
      return conversationText(ctx, actor, resource)
    case 'thread':
      return threadText(ctx, actor, resource)
    case 'message':
      return messageText(ctx, actor, resource)
  }
}

/** The latest messages of a conversation, oldest first. */
async function conversationText(ctx: Context, actor: Actor, { conversation_id, cursor }: Resource): Promise<string> {
  const query = { view: 'all' as const, limit: MAX_MESSAGES, ...(cursor !== undefined && { before: cursor }) }
  const page = await bind(ctx, timeline)(actor, conversation_id, query)
  const texts = fromEnd(await withAuthors(ctx, actor, page.messages))
  const first = page.messages[page.messages.length - texts.length]
  const hasMore = texts.length < page.messages.length || page.next_before !== undefined
  const rest = hasMore && first ? [`_earlier: ${toUri({ conversation_id }, first.id)}_`] : []
  return [...rest, ...texts].join('\n\n') || '_no messages_'
}

/** As many of the last messages as fit. */
function fromEnd(messages: readonly AuthoredMessage[]): string[] {
  return fittingTexts([...messages].reverse()).reverse()
}

/** A page of a thread, depth first. */
async function threadText(
  ctx: Context,
  actor: Actor,
  { conversation_id, cursor, root_id }: Resource & { kind: 'thread' },
): Promise<string> {
  const page = await bind(ctx, tree)(actor, root_id, {
    limit: MAX_MESSAGES,
    ...(cursor !== undefined && { cursor_path: cursor }),
  })
  if (page.messages.some((message) => message.conversation_id !== conversation_id)) throw new ChatError('not_found')
  const texts = fittingTexts(await withAuthors(ctx, actor, page.messages))
  const next = texts.length < page.messages.length ? page.messages[texts.length - 1]!.path : page.next_cursor
  const title = page.title === undefined || cursor !== undefined ? [] : [`_title:_\n\n${quoted(page.title)}`]
  const rest = next === undefined ? [] : [`_continued at ${toUri({ conversation_id, root_id }, next)}_`]
  return [...title, ...texts, ...rest].join('\n\n') || '_no messages_'
}

/** A message, from a place in its text on. */
async function messageText(
  ctx: Context,
  actor: Actor,
  { conversation_id, cursor = '0', message_id }: Resource & { kind: 'message' },
): Promise<string> {
  const message = await bind(ctx, getMessage)(actor, message_id)
  if (message.conversation_id !== conversation_id) throw new ChatError('not_found')
  const from = /^\d{1,8}$/.test(cursor) ? Number(cursor) : message.content.length
  if (from > 0 && from >= message.content.length) throw new ChatError('invalid_cursor')
  const [named] = await withAuthors(ctx, actor, [message])
  return toMarkdown(named!, MAX_TEXT_BYTES, from)
}

/** The first of these messages that fit, and at least one. */
function fittingTexts(messages: readonly AuthoredMessage[]): string[] {
  const texts: string[] = []
  let room = MAX_TEXT_BYTES
  for (const message of messages) {
    const text = toMarkdown(message, MAX_TEXT_BYTES)
    room -= Buffer.byteLength(text) + 2
    if (room < 0 && texts.length > 0) break
    texts.push(text)
  }
  return texts
}
