import * as v from 'valibot'
import { AssistantKey } from '../../chat/assistants/schema.ts'
import { AttachmentIds } from '../../chat/attachments/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, IdempotencyKey, opaque, text } from '../../core/schema.ts'
import { ChatName } from '../chats/schema.ts'

/** What a participant says of a call of a tool. */
export const UiApprovalInput = v.object({
  id: opaque(MAX_LENGTH.ui_id),
  approved: v.optional(v.boolean()),
  reason: v.optional(text(MAX_LENGTH.remark)),
})

/** A part of a message of the client. Other fields are ignored. */
export const UiPartInput = v.object({
  type: opaque(MAX_LENGTH.ui_id),
  text: v.optional(opaque(MAX_LENGTH.message)),
  url: v.optional(v.pipe(opaque(MAX_LENGTH.url), v.description('Of a file: its address here, or its id'))),
  state: v.optional(opaque(MAX_LENGTH.ui_id)),
  approval: v.optional(UiApprovalInput),
})
export type UiPartInput = v.InferOutput<typeof UiPartInput>

/** A message of the client. */
export const UiMessageInput = v.object({
  id: v.optional(opaque(MAX_LENGTH.ui_id)),
  role: v.picklist(['system', 'user', 'assistant']),
  parts: v.optional(v.array(UiPartInput), []),
})
export type UiMessageInput = v.InferOutput<typeof UiMessageInput>

/** What a client of the AI SDK sends. */
export const UiChatInput = v.object({
  id: ChatName,
  messages: v.optional(
    v.pipe(
      v.array(UiMessageInput),
      v.description('The messages that the client shows; of all but the last one only `id` and `role` are read'),
    ),
  ),
  message: v.optional(UiMessageInput),
  trigger: v.optional(v.picklist(['submit-message', 'regenerate-message'])),
  messageId: v.optional(
    v.pipe(opaque(MAX_LENGTH.ui_id), v.description('The message that is edited, or answered again')),
  ),
  conversation_id: v.optional(
    v.pipe(Id, v.description('Of a new chat: the conversation in which it begins, else a new one of the user alone')),
  ),
  assistant: v.optional(AssistantKey),
  attachment_ids: v.optional(AttachmentIds),
})
export type UiChatInput = v.InferOutput<typeof UiChatInput>

/** The headers of a call by a client of the AI SDK. */
export const UiVersionHeader = v.object({
  'x-ui-version': v.optional(
    v.pipe(v.string(), v.maxLength(64), v.description('`5` for a client of version 5, which knows no approvals')),
  ),
})

export const UiChatHeaders = v.object({
  ...UiVersionHeader.entries,
  'idempotency-key': v.optional(
    v.pipe(
      IdempotencyKey,
      v.description('The same question with the same key is asked once; else the id of a new message is its key'),
    ),
  ),
})

const Version = v.optional(opaque(64))

/** What a client of the AI SDK sends, with what is in headers over HTTP. */
export const UiChatRequest = v.object({
  ...UiChatInput.entries,
  idempotency_key: v.optional(IdempotencyKey),
  ui_version: Version,
  /** By which the client calls: its files may be named by addresses there. */
  host: v.optional(opaque(MAX_LENGTH.url)),
})
export type UiChatRequest = v.InferOutput<typeof UiChatRequest>

/** How a stream is read. */
export const UiStreamRequest = v.object({ ui_version: Version })

/** What is stopped; without an id, what runs or waits: first what the caller has asked. */
export const UiStopInput = v.object({
  activeStreamId: v.optional(opaque(MAX_LENGTH.ui_id)),
})
