import * as v from 'valibot'
import { AssistantKey } from '../../chat/assistants/schema.ts'
import { AttachmentIds } from '../../chat/attachments/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, IdempotencyKey, opaque, plainObject, text } from '../../core/schema.ts'
import { ChatName } from '../chats/schema.ts'

const Name = opaque(MAX_LENGTH.ui_id)

/** What clients of some languages send as `null` where they leave it out. */
const maybe = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.nullable(schema))

/** How many interrupts are answered at once: an answer has no more parts. */
const MAX_RESUMED = 256

/** Where the bytes of a file are. */
export const AgUiSourceInput = v.nullable(
  v.object({
    type: Name,
    value: v.pipe(opaque(MAX_LENGTH.url), v.description('Of a file: its address here, or its id')),
  }),
)

/** A part of a question: a text, or a file. */
export const AgUiPartInput = v.object({
  type: v.pipe(Name, v.description('`text`, `image`, `audio`, `video` or `document`')),
  text: maybe(opaque(MAX_LENGTH.message)),
  source: v.optional(AgUiSourceInput),
  url: maybe(v.pipe(opaque(MAX_LENGTH.url), v.description('Of a `binary` of 0.x: its address here'))),
  id: maybe(v.pipe(Name, v.description('Of a `binary` of 0.x: its id'))),
})
export type AgUiPartInput = v.InferOutput<typeof AgUiPartInput>

export const AgUiText = v.nullable(opaque(MAX_LENGTH.message))
export const AgUiParts = v.array(AgUiPartInput)

/** A message of the client. */
export const AgUiMessageInput = v.object({
  id: maybe(Name),
  role: Name,
  content: v.optional(v.union([AgUiText, AgUiParts])),
})
export type AgUiMessageInput = v.InferOutput<typeof AgUiMessageInput>

/** What a participant says of a call of a tool. */
export const AgUiDecision = v.nullable(v.object({ approved: v.boolean(), reason: maybe(text(MAX_LENGTH.remark)) }))

/** The answer to an interrupt. */
export const AgUiResumeInput = v.object({
  interruptId: v.pipe(Name, v.description('The call of a tool that waits')),
  status: v.pipe(v.picklist(['resolved', 'cancelled']), v.description('`cancelled` denies the call')),
  payload: v.optional(AgUiDecision),
})
export type AgUiResumeInput = v.InferOutput<typeof AgUiResumeInput>

/** What a client passes to this service beside its messages. */
export const AgUiForwardedProps = v.nullable(
  plainObject({
    conversation_id: v.optional(
      v.pipe(Id, v.description('Of a new chat: the conversation in which it begins, else a new one of the user alone')),
    ),
    assistant: v.optional(AssistantKey),
    variant_of: v.optional(v.pipe(Name, v.description('The answer of which this one is to be a variant'))),
    attachment_ids: v.optional(AttachmentIds),
  }),
)

/** A run as clients of AG-UI ask for it. State, tools and context are ignored. */
export const AgUiRunInput = v.object({
  threadId: ChatName,
  runId: v.pipe(Name, v.description('The key of the question: it is asked once')),
  protocolVersion: maybe(
    v.pipe(Name, v.description('Left out by clients of 0.x, which know no outcome but that of an interrupt')),
  ),
  messages: maybe(
    v.pipe(
      v.array(AgUiMessageInput),
      v.description(
        'The messages that the client shows: of all but the last one of the user, which is the question, only `id` and `role` are read',
      ),
    ),
  ),
  resume: maybe(
    v.pipe(
      v.array(AgUiResumeInput),
      v.maxLength(MAX_RESUMED),
      v.description('The answers to all interrupts that are open'),
    ),
  ),
  forwardedProps: v.optional(AgUiForwardedProps),
})
export type AgUiRunInput = v.InferOutput<typeof AgUiRunInput>

/** A run, with what is in headers over HTTP. */
export const AgUiRunRequest = v.object({
  ...AgUiRunInput.entries,
  idempotency_key: v.optional(IdempotencyKey),
  /** By which the client calls: its files may be named by addresses there. */
  host: v.optional(opaque(MAX_LENGTH.url)),
})
export type AgUiRunRequest = v.InferOutput<typeof AgUiRunRequest>

/** The headers of a run. */
export const AgUiRunHeaders = v.object({
  'idempotency-key': v.optional(
    v.pipe(IdempotencyKey, v.description('The same question with the same key is asked once; else `runId` is its key')),
  ),
})

/** What is stopped; without a run, what runs or waits: first what the caller has asked. */
export const AgUiStopInput = v.object({
  threadId: ChatName,
  runId: maybe(v.pipe(Name, v.description('A run, or an answer by its id'))),
})
export type AgUiStopInput = v.InferOutput<typeof AgUiStopInput>
