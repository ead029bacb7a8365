import type { Part } from '../../chat/answers/schema-parts.ts'
import type { Message } from '../../chat/messages/schema.ts'
import { promptId } from '../chats/rules.ts'
import type { UiMessage, UiPart } from './schema-messages.ts'

/** What messages are shown with. */
interface Shown {
  urlOf(attachmentId: string): string
  /** All answers at a place, by each of them, where there are several. */
  variants: ReadonlyMap<string, string[]>
  /** The answer that is written now. */
  running_id: string | undefined
}

/** A message as the AI SDK has it: an answer with a question in it is two, and of one that is written now only the question. */
export function toUiMessages(message: Message, { urlOf, variants, running_id }: Shown): UiMessage[] {
  const { id, role, prompt, created_at, author_user_id, author_kind, assistant, generated, status, usage } = message
  const isPerson = role === 'user' && (author_kind === undefined || author_kind === 'guest')
  const others = variants.get(id)
  const metadata = {
    ...(author_user_id !== undefined && { author_user_id }),
    ...(assistant !== undefined && { assistant }),
    ...(generated && { generated }),
    created_at,
    ...(role === 'assistant' && { status }),
    ...(usage && { usage }),
    ...(others && { variants: others }),
  }
  const own: UiMessage = { id, role: isPerson ? 'user' : 'assistant', metadata, parts: partsOf(message, urlOf) }
  const question = prompt ? [toQuestion(message, prompt, urlOf)] : []
  return id === running_id ? question : [...question, own]
}

function toQuestion(message: Message, text: string, urlOf: Shown['urlOf']): UiMessage {
  const { id, requested_by, created_at } = message
  const metadata = { ...(requested_by !== undefined && { author_user_id: requested_by }), created_at }
  return { id: promptId(id), role: 'user', metadata, parts: [...filesOf(message, urlOf), { type: 'text', text }] }
}

/** The files that were sent with a message; those that an assistant has made are parts. */
const filesOf = ({ attachments = [] }: Message, urlOf: Shown['urlOf']): UiPart[] =>
  attachments
    .filter(({ generated }) => !generated)
    .map(({ id, name, type }) => ({ type: 'file', url: urlOf(id), mediaType: type, filename: name }))

function partsOf(message: Message, urlOf: Shown['urlOf']): UiPart[] {
  const { role, prompt, content, parts } = message
  // The question has its own.
  const files = prompt ? [] : filesOf(message, urlOf)
  const begin = role === 'assistant' ? [{ type: 'step-start' }] : []
  const said = parts ? parts.flatMap((part) => toUiParts(part, urlOf)) : textPart(content)
  return [...begin, ...files, ...said]
}

const textPart = (text: string): UiPart[] => (text === '' ? [] : [{ type: 'text', text, state: 'done' }])

function toUiParts(part: Part, urlOf: Shown['urlOf']): UiPart[] {
  switch (part.type) {
    case 'text':
      return textPart(part.text)
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text ?? '', state: 'done' }]
    case 'tool':
      return [toToolPart(part), ...toApprovalPart(part)]
    case 'source': {
      const { id, url, title, media_type, filename } = part
      const sourceId = String(id)
      const named = { ...(title !== undefined && { title }), ...(filename !== undefined && { filename }) }
      if (url !== undefined) return [{ type: 'source-url', sourceId, url, ...named }]
      const mediaType = media_type ?? 'application/octet-stream'
      return [{ type: 'source-document', sourceId, mediaType, title: title ?? filename ?? '', ...named }]
    }
    case 'file':
      return [{ type: 'file', url: urlOf(part.attachment_id), mediaType: part.media_type, filename: part.name }]
    case 'data':
      return [
        {
          type: `data-${part.name}`,
          ...(part.key !== undefined && { id: part.key }),
          data: part.data ?? null,
          ...cutOf(part),
        },
      ]
    case 'step':
      return [{ type: 'step-start' }]
  }
}

type ToolPart = Extract<Part, { type: 'tool' }>

function toToolPart(part: ToolPart): UiPart {
  const { name: toolName, call_id: toolCallId, title, input = {}, error } = part
  const begin = {
    type: 'dynamic-tool',
    toolName,
    toolCallId,
    ...(title !== undefined && { title }),
    providerExecuted: true as const,
    input,
    ...cutOf(part),
  }
  const approval = { id: toolCallId }
  switch (part.state) {
    case 'requested':
    case 'running':
      return { ...begin, state: 'input-available' }
    case 'waiting':
      return { ...begin, state: 'approval-requested', approval }
    case 'approved':
      return { ...begin, state: 'approval-responded', approval: { ...approval, approved: true } }
    case 'done':
      return { ...begin, state: 'output-available', output: part.output ?? null }
    case 'denied':
      return { ...begin, state: 'output-denied', approval: { ...approval, approved: false } }
    default:
      return { ...begin, state: 'output-error', errorText: error?.message ?? part.state }
  }
}

function toApprovalPart({ call_id, state, approval }: ToolPart): UiPart[] {
  if (!approval) return []
  const isOpen = state === 'waiting' || state === 'denied' || state === 'expired' || state === 'cancelled'
  const { expires_at } = approval
  return [{ type: 'data-approval', id: call_id, data: { call_id, state: isOpen ? state : 'approved', expires_at } }]
}

/** Long values are left out of lists. */
const cutOf = ({ cut }: { cut?: number | undefined }) => (cut === undefined ? {} : { cut })
