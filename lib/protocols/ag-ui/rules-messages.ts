import type { Part } from '../../chat/answers/schema-parts.ts'
import type { Message } from '../../chat/messages/schema.ts'
import { promptId } from '../chats/rules.ts'
import type { CallPart } from '../rows/rules.ts'
import { argumentsOf, callFailureText, isFailedState } from '../rows/rules-texts.ts'
import { isCustom, resultOf, toCustom, toPartMessageId, type UrlOf } from './rules-parts.ts'
import type { AgUiMessage, AgUiPart } from './schema-messages.ts'

/** What messages are shown with. */
export interface Shown {
  urlOf: UrlOf
  /** The ids that the client has given to questions, by their answers: it keeps its messages where their ids stay. */
  question_ids: ReadonlyMap<string, string>
  /** The answer that is written now. */
  running_id?: string | undefined
}

/** A message as AG-UI has it: an answer is one for each of its texts, calls and results, without the one that is written now. */
export function toAgUiMessages(message: Message, shown: Shown): AgUiMessage[] {
  const { id, role, prompt, author_kind } = message
  const question = prompt ? [toQuestion(message, prompt, shown)] : []
  if (id === shown.running_id) return question
  const isPerson = role === 'user' && (author_kind === undefined || author_kind === 'guest')
  if (isPerson) return [toOwn(message, shown.urlOf)]
  return [...question, ...toAnswer(message, shown.urlOf)]
}

function toQuestion(message: Message, text: string, { question_ids, urlOf }: Shown): AgUiMessage {
  const { id, requested_by, created_at } = message
  const author = requested_by === undefined ? {} : { author_user_id: requested_by }
  return {
    id: question_ids.get(id) ?? promptId(id),
    role: 'user',
    content: withFiles(text, message, urlOf),
    metadata: { 'chat-server': { message_id: id, created_at, ...author } },
  }
}

function toOwn(message: Message, urlOf: UrlOf): AgUiMessage {
  const { id, content } = message
  return { id, role: 'user', content: withFiles(content, message, urlOf), metadata: factsOf(message) }
}

function factsOf({ id, role, created_at, author_user_id, assistant, generated, status }: Message) {
  const facts = {
    message_id: id,
    created_at,
    ...(author_user_id !== undefined && { author_user_id }),
    ...(assistant !== undefined && { assistant }),
    ...(generated && { generated }),
    ...(role === 'assistant' && { status }),
  }
  return { 'chat-server': facts }
}

function withFiles(text: string, { attachments = [] }: Message, urlOf: UrlOf): string | AgUiPart[] {
  const files = attachments.filter(({ generated }) => !generated)
  if (files.length === 0) return text
  const said: AgUiPart[] = text === '' ? [] : [{ type: 'text', text }]
  return [
    ...said,
    ...files.map(({ id, type }): AgUiPart => {
      return { type: kindOf(type), source: { type: 'url', value: urlOf(id), mimeType: type } }
    }),
  ]
}

function kindOf(mediaType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

function toAnswer(message: Message, urlOf: UrlOf): AgUiMessage[] {
  const { id, content } = message
  const parts: Part[] = message.parts ?? (content === '' ? [] : [{ id: 0, type: 'text', text: content }])
  const first = parts.find(({ type }) => type === 'text')
  const custom = parts.filter(isCustom).map((part) => toCustom(part, urlOf))
  const facts = factsOf(message)['chat-server']
  const withCustom = { 'chat-server': { ...facts, ...(custom.length > 0 && { custom }) } }
  const messages = parts.flatMap((part): AgUiMessage[] => {
    switch (part.type) {
      case 'text':
        return [
          {
            id: toPartMessageId(id, part.id, part === first),
            role: 'assistant',
            content: part.text,
            metadata: part === first ? withCustom : { 'chat-server': facts },
          },
        ]
      case 'reasoning':
        return part.text === undefined && part.cut === undefined ? [] : [toReasoning(id, part)]
      case 'tool':
        return toCall(id, part)
      default:
        return []
    }
  })
  // Without a text nothing else carries them.
  return first || custom.length === 0 ? messages : [...messages, { id, role: 'assistant', metadata: withCustom }]
}

/** What belongs to an answer, without long values. */
const belongingTo = (message_id: string, { cut }: { cut?: number | undefined }) => ({
  message_id,
  ...(cut !== undefined && { cut }),
})

function toReasoning(answerId: string, part: Extract<Part, { type: 'reasoning' }>): AgUiMessage {
  const metadata = { 'chat-server': belongingTo(answerId, part) }
  return { id: toPartMessageId(answerId, part.id), role: 'reasoning', content: part.text ?? '', metadata }
}

/** A call, and its result. */
function toCall(answerId: string, call: CallPart): AgUiMessage[] {
  const { call_id, name, state } = call
  const facts = belongingTo(answerId, call)
  const begin: AgUiMessage = {
    id: call_id,
    role: 'assistant',
    toolCalls: [{ id: call_id, type: 'function', function: { name, arguments: argumentsOf(call) } }],
    metadata: { 'chat-server': facts },
  }
  const result = resultOf(call)
  if (result === undefined) return [begin]
  const isLeftOut = state === 'done' && call.output === undefined && call.cut !== undefined
  return [
    begin,
    {
      id: toPartMessageId(answerId, call.id),
      role: 'tool',
      toolCallId: call_id,
      content: isLeftOut ? '' : result,
      ...(isFailedState(state) && { error: callFailureText(call, state) }),
      metadata: { 'chat-server': { ...facts, state } },
    },
  ]
}
