import * as v from 'valibot'
import { AnswerFailure } from '../chat/answers/answer-failure.ts'
import { Usage } from '../chat/answers/schema.ts'
import { DATA, isSource, SOURCE, SOURCE_FORM } from '../chat/answers/schema-pieces.ts'
import { Metadata } from '../chat/conversations/schema-metadata.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { text } from '../core/schema.ts'
import { FileName } from '../files/schema.ts'
import { toJsonText } from './json-value.ts'

/** The maximum size of what a provider keeps with a chunk, in bytes of JSON. */
const MAX_PROVIDER_DATA = 16 * 1024

const Tool = v.strictObject({
  id: v.pipe(text(MAX_LENGTH.subject), v.minLength(1)),
  name: v.pipe(v.string(), v.regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/)),
  input: v.optional(v.unknown()),
  output: v.optional(v.unknown()),
  error: v.optional(text(MAX_LENGTH.remark)),
})

// A model may call what does not exist: the call is answered, and need not have the name of a tool.
const ToolCall = v.strictObject({
  id: v.optional(text(MAX_LENGTH.subject)),
  name: v.pipe(text(MAX_LENGTH.name), v.minLength(1)),
  input: v.optional(v.unknown()),
})

const Source = v.pipe(v.strictObject(SOURCE), v.check(isSource, SOURCE_FORM))

const Data = v.strictObject(DATA)

const File = v.strictObject({ name: FileName, bytes: v.instance(Uint8Array) })

const PROVIDER_DATA = { provider_data: v.optional(v.unknown()) }

const Piece = v.union([
  v.strictObject({
    delta: v.optional(v.string()),
    usage: v.optional(Usage),
    // Only the service sets the last three: for an incomplete answer.
    finish_reason: v.optional(v.pipe(v.string(), v.regex(/^(?!(cancelled|failed|interrupted)$)[\w-]{1,64}$/))),
    metadata: v.optional(Metadata),
    ...PROVIDER_DATA,
  }),
  v.strictObject({ reasoning: v.string(), ...PROVIDER_DATA }),
  v.strictObject({ tool_call: ToolCall, ...PROVIDER_DATA }),
  v.strictObject({ tool: Tool, ...PROVIDER_DATA }),
  v.strictObject({ source: Source, ...PROVIDER_DATA }),
  v.strictObject({ file: File, ...PROVIDER_DATA }),
  v.strictObject({ data: Data, ...PROVIDER_DATA }),
])

type ParsedPiece = v.InferOutput<typeof Piece>

/** What a provider has yielded, with its own data as JSON. */
export type CheckedPiece = (ParsedPiece extends infer P
  ? P extends unknown
    ? Omit<P, 'provider_data'>
    : never
  : never) & {
  provider_data?: string
}

/** A file, as its provider has yielded it. */
export type CheckedFile = Extract<CheckedPiece, { file: unknown }>

/** A part of an answer, as its provider has yielded it. */
export type CheckedPart = Extract<
  CheckedPiece,
  { reasoning: unknown } | { tool: unknown } | { source: unknown } | { data: unknown }
>

/** A call of a tool, as its provider has yielded it. */
export type CheckedCall = Extract<CheckedPiece, { tool_call: unknown }>

/** Whether a chunk is a part, and no text. */
export function isPart(piece: CheckedPiece): piece is CheckedPart {
  return 'reasoning' in piece || 'tool' in piece || 'source' in piece || 'data' in piece
}

/**
 * A value of a provider, which may be anything.
 *
 * @throws AnswerFailure `invalid_answer` for a value that is no chunk, or has an unknown key
 */
export function toPiece(value: unknown): CheckedPiece {
  if (typeof value === 'string') return { delta: value }
  const piece = v.safeParse(Piece, value)
  // An array would otherwise pass as an object without keys.
  if (!piece.success || Array.isArray(value)) throw new AnswerFailure('invalid_answer', 'not a chunk of an answer')
  const { provider_data, ...rest } = piece.output
  if (provider_data === undefined) return rest
  // As a list of one, since it may be of any type.
  const json = toJsonText([provider_data], 'data of a provider')
  if (Buffer.byteLength(json) > MAX_PROVIDER_DATA)
    throw new AnswerFailure('invalid_answer', `data of a provider of more than ${MAX_PROVIDER_DATA} bytes`)
  return { ...rest, provider_data: json }
}
