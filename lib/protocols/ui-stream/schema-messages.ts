import * as v from 'valibot'
import { MessageStatus, Usage } from '../../chat/answers/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Cursor, Id, Instant, Limit, opaque } from '../../core/schema.ts'

/** What is known of a message beside its parts. */
export const UiMessageMetadata = v.object({
  author_user_id: v.optional(Id),
  assistant: v.optional(v.string()),
  generated: v.optional(v.literal(true)),
  created_at: Instant,
  status: v.optional(MessageStatus),
  usage: v.optional(Usage),
  variants: v.optional(
    v.pipe(v.array(Id), v.description('All answers at this place, oldest first; missing for the only one')),
  ),
})

const Text = v.optional(v.string())

/** The decision on a call of a tool. */
export const UiPartApproval = v.object({ id: Id, approved: v.optional(v.boolean()) })

/** A part of a message, as the AI SDK has it. */
export const UiPart = v.object({
  type: v.pipe(
    v.string(),
    v.description(
      '`text`, `reasoning`, `step-start`, `dynamic-tool`, `source-url`, `source-document`, `file`, or `data-<name>`',
    ),
  ),
  text: Text,
  state: Text,
  toolName: Text,
  toolCallId: v.optional(Id),
  providerExecuted: v.optional(v.literal(true)),
  input: v.optional(v.unknown()),
  output: v.optional(v.unknown()),
  errorText: Text,
  approval: v.optional(UiPartApproval),
  sourceId: Text,
  url: Text,
  mediaType: Text,
  filename: Text,
  title: Text,
  id: Text,
  data: v.optional(v.unknown()),
  cut: v.optional(
    v.pipe(v.number(), v.description('The size in bytes of the values of more than 2 KiB, which are left out')),
  ),
})
export type UiPart = v.InferOutput<typeof UiPart>

/** A message as the AI SDK has it. The question in an answer is a message of its own, with the id `<id>:prompt`. */
export const UiMessage = v.object({
  id: v.string(),
  role: v.picklist(['user', 'assistant']),
  metadata: UiMessageMetadata,
  parts: v.array(UiPart),
})
export type UiMessage = v.InferOutput<typeof UiMessage>

/** The messages of a chat that a client shows. */
export const UiChatHistory = v.object({
  id: v.string(),
  root_id: v.optional(v.pipe(Id, v.description('Its first message; missing before the first question'))),
  conversation_id: Id,
  messages: v.array(UiMessage),
  activeStreamId: v.optional(v.pipe(Id, v.description('The answer that is written now: it is not among the messages'))),
  next_before: v.optional(v.pipe(Id, v.description('`before` of the page with earlier messages'))),
})
export type UiChatHistory = v.InferOutput<typeof UiChatHistory>

export const UiHistoryQuery = v.object({
  leaf: v.optional(
    v.pipe(opaque(MAX_LENGTH.ui_id), v.description('The last message of the branch; left out, the newest answer')),
  ),
  before: v.optional(v.pipe(Id, v.description('Messages before this one'))),
  limit: Limit(50, 200),
})

/** A chat that the caller has named. */
export const UiChat = v.object({
  id: v.string(),
  root_id: Id,
  conversation_id: Id,
  title: v.string(),
  last_activity_at: Instant,
})

/** The chats that the caller has named, latest activity first. */
export const UiChats = v.object({ chats: v.array(UiChat), next_after: v.optional(Cursor) })
export type UiChats = v.InferOutput<typeof UiChats>

export const UiChatsQuery = v.object({ after: v.optional(Cursor), limit: Limit(50, 200) })
