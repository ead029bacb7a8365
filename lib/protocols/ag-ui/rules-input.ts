import { ChatError, invalid } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { isId } from '../../core/schema.ts'
import type { Wish } from '../chats/placing.ts'
import { isPromptId, toMessageId } from '../chats/rules.ts'
import { type FileAddresses, toAttachmentId } from '../chats/rules-files.ts'
import type { AgUiMessageInput, AgUiPartInput, AgUiResumeInput, AgUiRunInput } from './schema.ts'

/** How many of its questions a client tells the ids of: a snapshot has as many messages. */
const MAX_KNOWN = 200

/** A question of a run. */
export interface RunQuestion extends Wish {
  content: string
  attachment_ids: string[] | undefined
  conversation_id: string | undefined
  assistant: string | undefined
}

/** A decision on a call of a tool. */
export interface RunDecision {
  call_id: string
  approve: boolean
  reason?: string
}

/** What a client knows. */
export interface Known {
  /** The ids of its questions, by their answers. */
  question_ids: Map<string, string>
  /** The id of the last question. */
  question_id: string | undefined
}

/**
 * An input without what is not read, which may have texts of any length: the state, tools and context of the client, and the
 * contents of all messages but the question.
 */
export function withoutHistory(request: unknown): object {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return {}
  const { state: _, tools: __, context: ___, ...input } = request as Record<string, unknown>
  const { messages } = input
  return Array.isArray(messages) ? { ...input, messages: withoutContents(messages) } : input
}

function withoutContents(messages: readonly unknown[]): unknown[] {
  const question = messages.findLastIndex((each) => (each as { role?: unknown } | null)?.role === 'user')
  return messages.map((each, n) => {
    if (typeof each !== 'object' || each === null || n === question) return each
    const { id, role } = each as { id?: unknown; role?: unknown }
    // Ids that are not of this service may be anything.
    return { ...(typeof id === 'string' && id.length <= MAX_LENGTH.ui_id && { id }), role }
  })
}

/** The question of a run: the last message of the user. @throws ChatError `validation_failed` without one, and for a file that is not of the service */
export function readQuestion({ messages, forwardedProps }: AgUiRunInput, addresses: FileAddresses): RunQuestion {
  const all = messages ?? []
  const last = all.findLastIndex(({ role }) => role === 'user')
  const question = all[last]
  if (!question) throw invalid('messages', 'must have a message of the user')
  const { conversation_id, assistant, variant_of, attachment_ids = [] } = forwardedProps ?? {}
  const files = [...attachment_ids, ...filesIn(question, addresses)]
  return {
    kind: 'run',
    content: textOf(question),
    attachment_ids: files.length > 0 ? [...new Set(files)] : undefined,
    answer_ids: answersIn(all.slice(0, last)),
    message_id: toMessageId(variant_of) ?? askedId(question),
    conversation_id,
    assistant,
  }
}

/** The answer to a question that was asked before: it has an id of this service. Other ids of clients may be UUIDs, too. */
const askedId = ({ id }: AgUiMessageInput) => (id && isPromptId(id) ? toMessageId(id) : undefined)

/** What the messages of a client tell of their ids. */
export function readKnown({ messages }: AgUiRunInput): Known {
  const question_ids = new Map<string, string>()
  let question_id: string | undefined
  for (const { id, role } of messages ?? []) {
    if (role === 'user') question_id = id ?? undefined
    const answer = role === 'user' ? undefined : toAnswerId(id)
    if (answer !== undefined && question_id !== undefined && !question_ids.has(answer))
      question_ids.set(answer, question_id)
  }
  // A snapshot has no more.
  return { question_ids: new Map([...question_ids].slice(-MAX_KNOWN)), question_id }
}

/** The answers to which the messages of a client belong, in their order. */
function answersIn(messages: readonly AgUiMessageInput[]): string[] {
  const ids = messages.flatMap(({ id, role }) => (role === 'user' ? [] : (toAnswerId(id) ?? [])))
  return [...new Set(ids)]
}

/** The answer of a message: its own id, or that and the number of a part. `undefined` for an id that is not of this service. */
function toAnswerId(id: string | null | undefined): string | undefined {
  const [own] = typeof id === 'string' ? id.split(/:\d{1,4}$/) : []
  return own !== undefined && isId(own) ? own : undefined
}

const textOf = ({ content }: AgUiMessageInput): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).flatMap(({ type, text }) => (type === 'text' && text ? text : [])).join('\n')

const filesIn = ({ content }: AgUiMessageInput, addresses: FileAddresses): string[] =>
  typeof content === 'string' ? [] : (content ?? []).flatMap((part) => fileIn(part, addresses))

const FILE_TYPES: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'document', 'binary'])

function fileIn({ type, source, url, id }: AgUiPartInput, addresses: FileAddresses): string | [] {
  return FILE_TYPES.has(type) ? toAttachmentId(source?.value ?? url ?? id ?? '', addresses) : []
}

/** The decisions of a run. @throws ChatError `validation_failed`; `not_found` for an interrupt that is not of this service */
export function readDecisions(resume: readonly AgUiResumeInput[]): RunDecision[] {
  const decisions = resume.map(({ interruptId, status, payload }): RunDecision => {
    if (!isId(interruptId)) throw new ChatError('not_found')
    if (status === 'cancelled') return { call_id: interruptId, approve: false }
    if (!payload) throw invalid('resume', 'must have a payload with `approved` in each entry that is resolved')
    const { approved, reason } = payload
    return { call_id: interruptId, approve: approved, ...(reason && { reason }) }
  })
  if (new Set(decisions.map(({ call_id }) => call_id)).size < decisions.length)
    throw invalid('resume', 'must answer each interrupt once')
  return decisions
}
