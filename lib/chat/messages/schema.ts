import * as v from 'valibot'
import { ShownKind } from '../../accounts/users/schema.ts'
import { isVisible, PATTERNS } from '../../core/characters.ts'
import { MAX_QUOTE_LENGTH } from '../../core/excerpt.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, IdempotencyKey, Instant, label, text } from '../../core/schema.ts'
import { MessageStatus, Usage } from '../answers/schema.ts'
import { QuestionContext } from '../answers/schema-context.ts'
import { FAILURES, type FailureCode } from '../answers/schema-failures.ts'
import { Part } from '../answers/schema-parts.ts'
import { AssistantKey } from '../assistants/schema.ts'
import { Attachment, AttachmentIds } from '../attachments/schema.ts'
import { AnsweredCall } from '../commands/schema.ts'
import { Metadata } from '../conversations/schema-metadata.ts'
import { Feedback } from '../feedback/schema.ts'
import { Mentions, MentionsInput, PostMentionsInput } from '../mentions/schema.ts'

/** The form of a path, or of an empty text: segments of base-36 digits, each after its count. */
export const PATHS =
  '^(1[0-9a-z]|2[0-9a-z]{2}|3[0-9a-z]{3}|4[0-9a-z]{4}|5[0-9a-z]{5}|6[0-9a-z]{6}|7[0-9a-z]{7}|8[0-9a-z]{8})*$'

/** The text of a message, stored byte for byte. Its maximum size in bytes is `limits.message_bytes`. */
export const VisibleContent = v.pipe(
  text(MAX_LENGTH.message),
  v.check(isVisible, 'must have something visible in it'),
  v.metadata({ minLength: 1, pattern: PATTERNS.visible }),
  v.description(
    'At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte',
  ),
)

/** The text of a message, empty if it has files. */
export const Content = v.pipe(
  text(MAX_LENGTH.message),
  v.check((content) => content === '' || isVisible(content), 'must have something visible in it'),
  v.metadata({ pattern: PATTERNS.visible_or_empty }),
  v.description(
    'At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte. With files it may be empty',
  ),
)

/** How many of the users who reacted a message names for each emoji. */
export const NAMED_USERS = 10

/** The reactions to a message with one emoji, or with both of its spellings. */
export const Reaction = v.object({
  emoji: v.pipe(v.string(), v.description('As it was first written')),
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
  user_ids: v.pipe(v.array(Id), v.description(`The first ${NAMED_USERS}, in the order they reacted`)),
})
export type Reaction = v.InferOutput<typeof Reaction>

/** When a message was pinned, and by which user, unless that user is erased. */
export const MessagePin = v.object({ by: v.optional(Id), at: Instant })
export type MessagePin = v.InferOutput<typeof MessagePin>

/** A message that another one quotes, as it is now. */
export const Quote = v.object({
  message_id: Id,
  root_id: Id,
  role: v.optional(v.pipe(v.picklist(['assistant', 'system']), v.description('Missing for a message of a user'))),
  author_user_id: v.optional(v.pipe(Id, v.description('Missing for an answer, and when the user was erased'))),
  author_kind: ShownKind,
  excerpt: v.pipe(
    v.string(),
    v.description(
      `Its first ${MAX_QUOTE_LENGTH} characters, of an answer those of the question, or the names of its files; empty while it is deleted`,
    ),
  ),
  deleted: v.optional(v.literal(true)),
})
export type Quote = v.InferOutput<typeof Quote>

/** A message as all participants of its conversation read it. */
export const Message = v.object({
  id: Id,
  conversation_id: Id,
  root_id: Id,
  parent_id: v.optional(Id),
  author_user_id: v.optional(Id),
  author_kind: ShownKind,
  role: v.picklist(['user', 'assistant', 'system']),
  content: v.string(),
  path: v.pipe(v.string(), v.description('Opaque; in byte order it is the depth-first order of the thread')),
  depth: v.pipe(v.number(), v.integer()),
  status: MessageStatus,
  created_at: Instant,
  edited_at: v.optional(Instant),
  deleted_at: v.optional(Instant),
  delete_reason: v.optional(
    v.pipe(
      v.string(),
      v.description('Reason of the deletion, only in reads by users who may restore the message, and in no event'),
    ),
  ),
  prompt: v.optional(v.pipe(v.string(), v.description('The question to the assistant'))),
  requested_by: v.optional(
    v.pipe(
      Id,
      v.description(
        'The user who asked the assistant; counts as its author. Beside an author: the person whom a bot or a part of the host answers with a message that is streamed, who may stop it',
      ),
    ),
  ),
  finish_reason: v.optional(
    v.pipe(v.string(), v.description('Why an answer, or a message that was streamed, ended: `stop`, `length`, …')),
  ),
  failure: v.optional(
    v.pipe(
      v.picklist(Object.keys(FAILURES) as FailureCode[]),
      v.description('Why an answer with the status `failed` did'),
    ),
  ),
  usage: v.optional(Usage),
  parts: v.optional(
    v.pipe(
      v.array(Part),
      v.description('Of an answer, by `id`; missing while all of it is text, and once it is edited'),
    ),
  ),
  variant_of: v.optional(v.pipe(Id, v.description('The first answer of the set of which this answer is a variant'))),
  assistant: v.optional(v.pipe(v.string(), v.description('The key of the assistant that writes the answer'))),
  metadata: v.optional(Metadata),
  reactions: v.optional(v.pipe(v.array(Reaction), v.description('In the order of their first use'))),
  reacted: v.optional(
    v.pipe(v.array(v.string()), v.description("The caller's own reactions, only in reads: no event has them")),
  ),
  pinned: v.optional(MessagePin),
  mentions: v.optional(Mentions),
  attachments: v.optional(v.pipe(v.array(Attachment), v.description('Its files, in their order'))),
  quote: v.optional(Quote),
  invocation: v.optional(AnsweredCall),
  generated: v.optional(
    v.pipe(
      v.literal(true),
      v.description('The text is of a model: of every answer, and of a post whose author says so'),
    ),
  ),
  /** The caller's own, in reads alone. */
  feedback: v.optional(Feedback),
  context: v.optional(QuestionContext),
})
export type Message = v.InferOutput<typeof Message>

/** The users who replied last in a thread. */
export const LastReplierIds = v.pipe(
  v.array(Id),
  v.description('The authors of its latest replies, each once, latest first: up to 3'),
)

/** What is told of the replies of a thread. */
export const REPLY_STATE = {
  reply_count: v.pipe(v.number(), v.integer(), v.description('Replies that are not deleted')),
  last_reply_at: v.optional(v.pipe(Instant, v.description('When the latest of them arrived'))),
  last_replier_ids: LastReplierIds,
}

/** The thread of a reply, when the event of the reply is sent. */
export const ReplyState = v.object({ root_id: Id, ...REPLY_STATE })
export type ReplyState = v.InferOutput<typeof ReplyState>

const Generated = v.optional(v.pipe(v.boolean(), v.description('Whether the text is of a model')))

const NOT_EMPTY = { properties: { content: { minLength: 1 } } }
const WITH_TEXT = { required: ['content'], ...NOT_EMPTY }
const ONLY_FILES = { required: ['content'], properties: { content: {}, role: { enum: ['user'] } } }

/** The input of a post. */
export const MessageInput = v.pipe(
  v.object({
    content: v.optional(Content, ''),
    role: v.optional(
      v.pipe(
        v.picklist(['user', 'assistant']),
        v.description(
          'With `assistant`, the assistant writes the message; `content` is then the question, which may have files, and is not empty. Left out, it is `assistant` in a conversation with the layout `assistant`, else `user`',
        ),
      ),
    ),
    metadata: v.optional(Metadata),
    assistant: v.optional(
      v.pipe(
        AssistantKey,
        v.description(
          'Of a question: the assistant that answers. Left out, it is that of the answer of which this one is a variant, else that of the nearest answer above, of the conversation, or the default',
        ),
      ),
    ),
    mentions: v.optional(PostMentionsInput),
    attachment_ids: v.optional(AttachmentIds),
    quote_id: v.optional(v.pipe(Id, v.description('A message of the same conversation that it quotes'))),
    invocation_id: v.optional(
      v.pipe(Id, v.description('For a program: the call of its command that the message answers')),
    ),
    variant_of: v.optional(
      v.pipe(
        Id,
        v.description(
          'Of a question to the assistant: an answer with the same parent, or a root as this one. The new answer is a variant of it, and of its set',
        ),
      ),
    ),
    generated: Generated,
    stream: v.optional(
      v.pipe(
        v.boolean(),
        v.description(
          'For bots and system actors: the message begins empty, or with `content` as its first chunk, and is written by `/chunks` until `/end`. Mentions and files are named at its end',
        ),
      ),
    ),
  }),
  // Validators follow these words, and generators of clients pass over them.
  v.metadata({
    if: { required: ['stream'], properties: { stream: { const: true } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
    then: { properties: { role: { enum: ['user'] } } },
    else: {
      if: { required: ['attachment_ids'], properties: { attachment_ids: { minItems: 1 } } },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
      then: { anyOf: [WITH_TEXT, ONLY_FILES] },
      else: {
        if: { required: ['variant_of'], properties: { variant_of: {} } },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
        then: { required: ['content'], properties: { content: {} } },
        else: WITH_TEXT,
      },
    },
  }),
)
export type MessageInput = v.InferOutput<typeof MessageInput>

/** The title of a thread; an empty one is none. */
export const ThreadTitle = label(MAX_LENGTH.title)

/** The input of a post that begins a thread. */
export const RootInput = v.pipe(
  v.object({ ...MessageInput.pipe[0].entries, title: v.optional(ThreadTitle) }),
  MessageInput.pipe[1],
)
export type RootInput = v.InferOutput<typeof RootInput>

const PostKey = v.pipe(
  IdempotencyKey,
  v.description('The same post with the same key is created once, however often it is sent within a day'),
)

export const IdempotencyHeader = v.object({ 'idempotency-key': v.optional(PostKey) })

/** The input of a post, with its idempotency key. */
export const PostInput = v.object({ ...MessageInput.entries, idempotency_key: v.optional(PostKey) })
export type PostInput = v.InferOutput<typeof PostInput>

/** The input of a post that begins a thread, with its idempotency key. */
export const PostRootInput = v.object({ ...RootInput.entries, idempotency_key: v.optional(IdempotencyKey) })
export type PostRootInput = v.InferOutput<typeof PostRootInput>

const Reason = v.optional(text(MAX_LENGTH.remark))

export const Edit = v.pipe(
  v.object({
    content: Content,
    reason: Reason,
    metadata: v.optional(Metadata),
    mentions: v.optional(MentionsInput),
    generated: Generated,
    attachment_ids: v.optional(
      v.pipe(AttachmentIds, v.description('The new list of all files; left out, the message keeps those it has')),
    ),
  }),
  // Without the list, it depends on the files that the message has.
  v.metadata({
    if: { required: ['attachment_ids'], properties: { attachment_ids: { maxItems: 0 } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
    then: NOT_EMPTY,
  }),
)
export type Edit = v.InferOutput<typeof Edit>

export const Deletion = v.object({ reason: Reason })
export type Deletion = v.InferOutput<typeof Deletion>

/** The response to a post. */
export const PostedMessage = v.object({
  message_id: Id,
  root_id: Id,
  conversation_id: Id,
  parent_id: v.optional(Id),
  depth: v.pipe(v.number(), v.integer()),
  message: Message,
  answers: v.optional(
    v.pipe(
      v.array(Message),
      v.description('The answers of the assistants that the message names, which write them now'),
    ),
  ),
  idempotency_replayed: v.optional(v.literal('true')),
})
export type PostedMessage = v.InferOutput<typeof PostedMessage>
