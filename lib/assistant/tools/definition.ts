import type { ApprovalRule } from '../../config/approval-rule.ts'
import type { Actor } from '../../core/actor.ts'
import { refuseUnknown } from '../../core/known-names.ts'
import type { PartPiece } from '../provider.ts'
import { assertDefinition } from './checked-definition.ts'
import type { StandardSchema } from './standard-schema.ts'
import { storableExcerpt } from './storable.ts'

/** The longest text of a failure, in UTF-16 units. */
const MAX_FAILURE = 500

/** The approval that a call needs before it runs. */
export interface ApprovalOptions {
  /** The user who asked, those who manage the conversation, or those who may post there. */
  by: ApprovalRule['by']
  /**
   * How many must approve, up to 10.
   * @default 1
   */
  quorum?: number
  /**
   * Whether the user who asked may not approve.
   * @default false
   */
  not_asker?: boolean
  /**
   * Whether API keys and tokens of apps may decide for their user.
   * @default false
   */
  keys?: boolean
  /**
   * After this time without a decision the call is not run: from a minute to 30 days.
   * @default 86400
   */
  expires_seconds?: number
}

/** A value that passed, or what is wrong with it: a text, or a list of them. */
export type Validated<Input> =
  | { value: Input; issues?: undefined }
  | { issues: string | readonly (string | { readonly message: string })[] }

/**
 * The input of a tool, an object: a Standard Schema that gives JSON Schema (Zod, ArkType), a schema of valibot, or a JSON
 * Schema with a function that checks.
 */
export type ToolInput<Input> =
  | StandardSchema<Input>
  | { json_schema: object; validate: (input: unknown) => Validated<Input> | Promise<Validated<Input>> }

/** A call of a tool. */
export interface ToolCall {
  /** Stays when this call runs again: a key that makes its effect unique. */
  call_id: string
  /** From 1; more only if the tool is idempotent. */
  attempt: number
  /** The user who asked, with the rights of this moment, for the functions of the service. */
  actor: Actor
  user: ToolUser
  conversation_id: string
  /** The answer that calls. */
  message_id: string
  /** The key of the assistant. */
  assistant: string
  /** Aborts when the result is not awaited any more. */
  signal: AbortSignal
}

/** The user who asked. */
export interface ToolUser {
  id: string
  username: string
  display_name?: string
  /** The host's own id of the user, where the host has the login. */
  subject?: string
}

/** What a call adds to its answer, beside the output. */
export type ToolPart = Extract<PartPiece, { source: unknown } | { file: unknown } | { data: unknown }>

/** An output with parts, made by {@link toolResult}. */
export interface ToolResult {
  /** JSON, for the model. */
  readonly output: unknown
  readonly parts: readonly ToolPart[]
}

/** A tool that an assistant may use. */
export interface ToolDefinition<Input> {
  /** What it does, for the model. */
  description: string
  /** What pages show; default: its name. */
  title?: string
  input: ToolInput<Input>
  /** Does it, and returns JSON, or a {@link toolResult}. An error is logged; the text of a {@link ToolFailure} is shown. */
  run(input: Input, call: ToolCall): unknown
  /**
   * Whether a call needs an approval: always the same, or as a function of the input returns it. A call for which the
   * function throws fails.
   */
  approval?: ApprovalOptions | ((input: Input) => ApprovalOptions | false | Promise<ApprovalOptions | false>)
  /**
   * Whether a call may run again with the same `call_id`, up to three times: where its effect cannot happen twice.
   * @default false
   */
  idempotent?: boolean
  /**
   * After this time the result is not awaited: from 1 to 3600.
   * @default 30
   */
  timeout_seconds?: number
  /**
   * What participants read of a call: all, the input, or only the name.
   * @default 'all'
   */
  show?: 'all' | 'input' | 'name'
}

/** What {@link defineTool} returns. */
export interface DefinedTool {
  readonly description: string
  /** The {@link ToolDefinition}; the type of its input is known to nothing else. */
  readonly '~definition': unknown
}

/**
 * Defines a tool; its name is its key in `tools`.
 *
 * @throws TypeError for a definition that no tool can have
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): DefinedTool {
  assertDefinition(definition)
  return { description: definition.description, '~definition': definition }
}

const results = new WeakSet<object>()

/** The result of a call with sources, files and data, which pages show with the answer. */
export function toolResult(value: { output: unknown; parts: readonly ToolPart[] }): ToolResult {
  refuseUnknown('toolResult', value, { output: 0, parts: 0 })
  const { output, parts } = value
  if (!Array.isArray(parts)) throw new TypeError('toolResult needs { output, parts }, and parts must be a list')
  const result: ToolResult = { output, parts }
  results.add(result)
  return result
}

/** Whether a value was made by {@link toolResult}. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && results.has(value)
}

/** The failure of a call. Its text, of up to 500 characters, is shown to users and told to the model. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'

  constructor(text: string, options?: ErrorOptions) {
    super(storableExcerpt(String(text), MAX_FAILURE), options)
  }
}
