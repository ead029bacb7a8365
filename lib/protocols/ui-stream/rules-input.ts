import { ChatError, invalid } from '../../core/errors.ts'
import { isId } from '../../core/schema.ts'
import { toMessageId } from '../chats/rules.ts'
import { type FileAddresses, toAttachmentId } from '../chats/rules-files.ts'
import type { UiChatRequest, UiMessageInput, UiPartInput } from './schema.ts'

/** What a client wants: an answer, or that calls of tools are decided. */
export type UiWish =
  | {
      kind: 'ask' | 'edit' | 'again'
      content: string
      attachment_ids: string[] | undefined
      answer_ids: string[]
      message_id: string | undefined
      /** The id that the client has given to a new message. */
      new_id: string | undefined
    }
  | { kind: 'decide'; message_id: string; decisions: { call_id: string; approve: boolean; reason?: string }[] }

/** A request without what is not read, which may have texts of any length: the history, and the contents of answers. */
export function withoutHistory(request: unknown): object {
  if (typeof request !== 'object' || request === null) return {}
  const { messages, message, messageId } = request as { messages?: unknown; message?: unknown; messageId?: unknown }
  const single = message === undefined ? {} : { message: withoutContents(message) }
  if (!Array.isArray(messages)) return { ...request, ...single }
  const isRead = (each: { id?: unknown }, n: number) =>
    n === messages.length - 1 || (messageId !== undefined && each.id === messageId)
  const read = messages.map((each: unknown, n) => {
    if (typeof each !== 'object' || each === null) return each
    if (isRead(each, n)) return withoutContents(each)
    const { id, role } = each as { id?: unknown; role?: unknown }
    return { ...(id !== undefined && { id }), role }
  })
  return { ...request, ...single, messages: read }
}

/** A message; of an answer only what is decided in it. */
function withoutContents(message: unknown): unknown {
  const { role, parts } = (message ?? {}) as { role?: unknown; parts?: unknown }
  if (role !== 'assistant' || !Array.isArray(parts)) return message
  return { ...(message as object), parts: parts.map(withoutContent) }
}

function withoutContent(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part
  const { text: _, url: __, ...rest } = part as { text?: unknown; url?: unknown }
  return rest
}

/**
 * What a client of the AI SDK wants.
 *
 * @throws ChatError `validation_failed` without a question, and for a file that is not of the service; `not_found` for decisions
 *   in a message that is not of the service
 */
export function readWish(
  { messages = [], message, trigger, messageId, attachment_ids }: UiChatRequest,
  addresses: FileAddresses,
): UiWish {
  const all = message ? [message] : messages
  if (trigger !== 'regenerate-message') {
    const answered = findDecided(all, messageId)
    if (answered) return readDecisions(answered)
  }
  const last = all.at(-1)
  const question = last?.role === 'user' ? last : undefined
  const kind = trigger === 'regenerate-message' ? 'again' : messageId === undefined ? 'ask' : 'edit'
  const content = textOf(question?.parts ?? [])
  if (kind !== 'again' && !question) throw invalid('messages', 'must end with a message of the user')
  const files = [...(attachment_ids ?? []), ...filesIn(question?.parts ?? [], addresses)]
  return {
    kind,
    content,
    attachment_ids: files.length > 0 ? [...new Set(files)] : undefined,
    answer_ids: all.flatMap(({ role, id }) => (role === 'assistant' ? (toMessageId(id) ?? []) : [])),
    message_id: toMessageId(messageId),
    new_id: kind === 'ask' ? question?.id : undefined,
  }
}

const isDecided = ({ role, parts }: UiMessageInput) =>
  role === 'assistant' && parts.some(({ state }) => state === 'approval-responded')

/** The answer whose calls a client has decided: the one that it names, else the last message. */
function findDecided(messages: readonly UiMessageInput[], messageId: string | undefined): UiMessageInput | undefined {
  const named = messageId === undefined ? undefined : messages.find(({ id }) => id === messageId)
  return [named, messages.at(-1)].find((message) => message && isDecided(message))
}

function readDecisions({ id, parts }: UiMessageInput): UiWish {
  const message_id = toMessageId(id)
  if (message_id === undefined) throw new ChatError('not_found')
  const decisions = parts.flatMap(({ state, approval }) => {
    if (state !== 'approval-responded' || !approval) return []
    if (!isId(approval.id)) throw new ChatError('not_found')
    const { id: call_id, approved, reason } = approval
    if (approved === undefined) throw invalid('messages', 'must have `approved` in each approval with a response')
    return [{ call_id, approve: approved, ...(reason !== undefined && { reason }) }]
  })
  return { kind: 'decide', message_id, decisions }
}

const textOf = (parts: readonly UiPartInput[]) =>
  parts.flatMap(({ type, text }) => (type === 'text' && text ? text : [])).join('\n')

/** The files of a message, by ids. @throws ChatError `validation_failed` for one that is not of the service */
const filesIn = (parts: readonly UiPartInput[], addresses: FileAddresses) =>
  parts.flatMap(({ type, url = '' }) => (type === 'file' ? toAttachmentId(url, addresses) : []))
