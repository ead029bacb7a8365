import type { OtherKind } from '../../accounts/users/schema.ts'
import { type Actor, isHook } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_QUOTE_LENGTH, toExcerpt } from '../../core/excerpt.ts'
import type { Attachment } from '../attachments/schema.ts'
import type { Layout } from '../conversations/schema-look.ts'
import type { Message, PostedMessage, Quote } from './schema.ts'
import { PATHS } from './schema.ts'

/** The path of every thread's root. Never empty: `path > ''` is the whole thread. */
export const ROOT_PATH = '10'

/**
 * The materialized path of the `ordinal`-th reply to the message at `parentPath`.
 *
 * A segment is the number of its base-36 digits, then the digits. So byte order is depth-first order for any number of
 * siblings: a thread is read with `ORDER BY path`, a page with `path > cursor`.
 *
 * @param ordinal position among the parent's replies, deleted ones included, from 0
 */
export function childPath(parentPath: string, ordinal: number): string {
  const digits = ordinal.toString(36)
  return parentPath + digits.length.toString(36) + digits
}

const PATHS_EXPRESSION = new RegExp(PATHS)

/** Whether a text has the form of a path: segments of digits, each after its count. */
export function isPath(path: string): boolean {
  return path !== '' && PATHS_EXPRESSION.test(path)
}

/** The paths of the ancestors of a message, from the root, and its own path. */
export function pathsDownTo(path: string): string[] {
  const paths: string[] = []
  for (let at = 0; at < path.length; ) {
    at += 1 + Number.parseInt(path[at]!, 36)
    paths.push(path.slice(0, at))
  }
  return paths
}

/** @throws ChatError `validation_failed` for a text of more than `maximum` bytes of UTF-8 */
export function assertContentFits(content: string, maximum: number): void {
  // A character takes at most 3 bytes of UTF-8 for each UTF-16 unit: most texts need no counting.
  if (content.length * 3 <= maximum || new TextEncoder().encode(content).length <= maximum) return
  throw new ChatError('validation_failed', {
    errors: [{ path: 'content', message: `must be at most ${maximum} bytes of UTF-8` }],
  })
}

/**
 * The role of a post: a person who leaves it out asks the assistant where the conversation is a talk with it. A program only
 * asks if it says so: it may answer each message that it gets.
 *
 * @param layout of the conversation
 */
export function postedRole(actor: Actor, role: 'user' | 'assistant' | undefined, layout: Layout): Message['role'] {
  // An incoming hook asks no assistant.
  if (isHook(actor)) return 'user'
  if (actor.system !== undefined) return role === 'assistant' ? role : 'system'
  return role ?? (layout === 'assistant' && !actor.is_bot ? 'assistant' : 'user')
}

/** The role that a post asks for: a program that streams its own text asks no assistant. */
export function wantedRole({
  role,
  stream,
}: {
  role?: 'user' | 'assistant' | undefined
  stream?: boolean | undefined
}): 'user' | 'assistant' | undefined {
  return stream ? 'user' : role
}

/** @throws ChatError `validation_failed` for a question to the assistant that has files and no text */
export function assertAsks({
  content,
  attachment_ids = [],
}: {
  content: string
  attachment_ids?: readonly string[] | undefined
}): void {
  if (content === '' && attachment_ids.length > 0)
    throw new ChatError('validation_failed', {
      errors: [{ path: 'content', message: 'must not be empty in a question to the assistant, also with files' }],
    })
}

/** @throws ChatError `validation_failed` for an empty text of a message without files */
export function assertNotEmpty(content: string, hasFiles: boolean): void {
  if (content === '' && !hasFiles)
    throw new ChatError('validation_failed', {
      errors: [{ path: 'content', message: 'must not be empty without a file' }],
    })
}

/** Whether the text of a message was erased together with its author, so that the message cannot be restored. */
export function isRedacted(message: {
  content: string
  prompt: string | null
  attachment_list?: string | null
}): boolean {
  return message.content === '' && message.prompt === null && !message.attachment_list
}

/**
 * The files of a message, from its row.
 *
 * @param author their uploader: the author of the message, unless that user is erased
 */
export function filesIn(list: string, author: string | undefined): Attachment[] {
  const files = JSON.parse(list) as Attachment[]
  if (author === undefined) return files
  return files.map(({ created_at, ...file }) => ({ ...file, uploaded_by: author, created_at }))
}

/** A quoted message. */
export interface QuotedRow {
  id: string
  conversation_id: string
  root_id: string
  role: Message['role']
  /** The author that readers get. */
  author: string | null
  /** 1 if a guest has posted it. */
  author_kind: OtherKind | null
  /** The beginning of its text. */
  begin: string
  /** The list of its files, as JSON. */
  files: string | null
  is_deleted: number
}

/** A quoted message as readers get it. */
export function toQuote({ id, root_id, role, author, author_kind, begin, files, is_deleted }: QuotedRow): Quote {
  return {
    message_id: id,
    root_id,
    ...(role !== 'user' && { role }),
    ...(author && { author_user_id: author, ...(author_kind && { author_kind }) }),
    excerpt: toExcerpt(begin, files === null ? [] : (JSON.parse(files) as { name: string }[]), MAX_QUOTE_LENGTH),
    ...(is_deleted && { deleted: true }),
  }
}

/** The response to a post. */
export function toPosted(message: Message): PostedMessage {
  const { id: message_id, root_id, conversation_id, parent_id, depth } = message
  return { message_id, root_id, conversation_id, ...(parent_id && { parent_id }), depth, message }
}
