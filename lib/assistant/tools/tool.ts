import type { ApprovalRule } from '../../config/approval-rule.ts'
import type { ToolCall, ToolPart } from './definition.ts'

/** A tool as answers use it. */
export interface Tool {
  name: string
  /** What pages show. */
  title: string
  description: string
  /** The JSON Schema of its input, which is an object. */
  schema: object
  /** Whether a call may run again, with the same id. */
  idempotent: boolean
  timeout_seconds: number
  /** What participants read of a call. */
  show: 'all' | 'input' | 'name'
  /** The rule for every input; `undefined` if none, or if it depends on the input. */
  fixedApproval?: ApprovalRule | undefined
  /** Never throws: an input that could not be checked has `error`, for the log. */
  validate(input: unknown): Promise<CheckedInput>
  /**
   * The rule for an input that has been checked; `undefined` if none.
   *
   * @throws what the host's function throws, and TypeError for another result of it
   */
  approval(input: unknown): Promise<ApprovalRule | undefined>
  /**
   * Runs once. The result is as the host returned it: that it is JSON is not known.
   *
   * @throws ToolFailure with a text for users and for the model; OutcomeUnknown if it may have happened; OutputTooLarge; any
   *   other error
   */
  run(input: unknown, call: ToolCall): Promise<ToolOutput>
}

/** An input that passed, as the tool gets it, or what is wrong with it, for the model. */
export type CheckedInput = { value: unknown; issues?: undefined } | { issues: string; error?: unknown }

/** What a tool returned. */
export interface ToolOutput {
  output: unknown
  parts: readonly ToolPart[]
}

/** A call that has returned more than an answer may keep. */
export class OutputTooLarge extends Error {
  override readonly name = 'OutputTooLarge'
}

/** A call of which it is not known whether it had an effect, as after a timeout. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}
