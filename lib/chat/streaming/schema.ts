import * as v from 'valibot'
import { isExactJson } from '../../core/exact-json.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, oneNamed, text } from '../../core/schema.ts'
import { MessageStatus } from '../answers/schema.ts'
import { DATA, isSource, SOURCE, SOURCE_FORM } from '../answers/schema-pieces.ts'
import { AttachmentIds } from '../attachments/schema.ts'
import { Metadata } from '../conversations/schema-metadata.ts'
import { MentionsInput } from '../mentions/schema.ts'
import { Message, PostRootInput } from '../messages/schema.ts'

const Index = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 31 - 1))

const idx = v.pipe(
  Index,
  v.description('From 0 on without a gap, beside a first chunk of the post; an empty chunk takes no number'),
)

// None of these is a `strictObject`: of shapes that forbid other fields, openapi-generator makes a union without its imports.

/** A piece of the text of a message that is streamed. */
export const TextChunk = v.object({
  idx,
  content: v.pipe(
    text(MAX_LENGTH.chunk),
    v.description('At most 16 KiB of UTF-8; an empty one only prolongs the time for the next call'),
  ),
})

/** What the text refers to: an address, or a document with its type. */
export const StreamedSource = v.pipe(
  v.object({ type: v.literal('source'), ...SOURCE }),
  v.check((source) => isSource(source), SOURCE_FORM),
)

/** A file that the program has uploaded to the conversation: it becomes an attachment of the message at once. */
export const StreamedFile = v.object({ type: v.literal('file'), attachment_id: Id })

/** Any JSON that fits into a chunk, and that is stored as it is. */
export const StreamedValue = v.pipe(
  v.unknown(),
  v.check(
    (value) => isExactJson(value) && Buffer.byteLength(JSON.stringify(value)) <= MAX_LENGTH.part,
    `must be JSON of at most ${MAX_LENGTH.part} bytes whose numbers are at most 2^53 - 1 from zero`,
  ),
)

/** JSON for a page of the host, by its name. */
export const StreamedData = v.object({
  type: v.literal('data'),
  ...DATA,
  data: StreamedValue,
})

/** A part of a message that is streamed, beside its text. */
export const StreamedPart = v.variant('type', [StreamedSource, StreamedFile, StreamedData])
export type StreamedPart = v.InferOutput<typeof StreamedPart>

/** A part of a message that is streamed, in the order of its text: at most 64 KiB of JSON. */
export const PartChunk = v.object({ idx, part: StreamedPart })

/** A piece of a message that is streamed: of its text, or a part. */
export const ChunkInput = oneNamed(v.union([TextChunk, PartChunk]), ['content', 'part'])
export type ChunkInput = v.InferOutput<typeof ChunkInput>

/** How far a message has come: only while it is `streaming` a chunk is stored. */
export const ChunkAnswer = v.object({
  status: MessageStatus,
  next_idx: v.pipe(Index, v.description('The number that the next chunk takes')),
})
export type ChunkAnswer = v.InferOutput<typeof ChunkAnswer>

/** A word, without those of ends that the service decides on. */
const FINISH_REASON = '^(?!(cancelled|failed|interrupted|refused)$)[a-z][a-z0-9_]*$'

const FinishReason = v.pipe(
  text(MAX_LENGTH.finish_reason),
  v.regex(new RegExp(FINISH_REASON), 'must be a word such as stop, and none of the ends that the service decides on'),
  v.metadata({ pattern: FINISH_REASON }),
  v.description('Why the text has ended: `stop` if it is left out'),
)

/** What a message gets at its end. */
export const StreamEnd = v.object({
  mentions: v.optional(MentionsInput),
  metadata: v.optional(Metadata),
  attachment_ids: v.optional(AttachmentIds),
  finish_reason: v.optional(FinishReason),
})
export type StreamEnd = v.InferOutput<typeof StreamEnd>

/** The end of a message that is streamed by calls. */
export const EndInput = v.object({
  ...StreamEnd.entries,
  failed: v.optional(
    v.pipe(v.boolean(), v.description('true if the text could not be written; the rest is then left aside')),
  ),
})
export type EndInput = v.InferOutput<typeof EndInput>

/** The message after its end. */
export const EndedMessage = v.object({ message: Message })
export type EndedMessage = v.InferOutput<typeof EndedMessage>

/** The beginning of a message that the process streams. */
export const StreamInput = v.object({
  parent_id: v.optional(v.pipe(Id, v.description('The message that it replies to; left out, it begins a thread'))),
  metadata: PostRootInput.entries.metadata,
  invocation_id: PostRootInput.entries.invocation_id,
  idempotency_key: PostRootInput.entries.idempotency_key,
})
export type StreamInput = v.InferOutput<typeof StreamInput>
