import { type CallMove, failed } from '../../chat/answers/calls.ts'
import { CALL_FAILURES } from '../../chat/answers/rules-calls.ts'
import type { CallRow } from '../../chat/answers/store-calls.ts'
import { readApproval } from '../../config/approval.ts'
import type { ApprovalRule } from '../../config/approval-rule.ts'
import type { Log, ToolBefore } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { fromStoredValue } from '../../core/stored-value.ts'
import type { Tool } from '../tools/tool.ts'
import { keyOfCall } from './equal-calls.ts'

/** The calls of one step beyond this number fail. */
export const MAX_CALLS = 16

/** What the host says of a call, if it has a hook for that. */
export type AskBeforeTool = (call: ToolBefore) => Promise<{ refuse?: string; approval?: ApprovalRule }>

/** What becomes of a call that was requested. */
export type Examined =
  | { kind: 'ready'; call: CallRow }
  | { kind: 'refused'; move: CallMove }
  | { kind: 'asks'; call: CallRow; rule: ApprovalRule }

/** What a call is judged by. */
export interface Judging {
  /** The tools that its assistant may use, by name. */
  tools: ReadonlyMap<string, Tool>
  /** Its key. */
  assistant: string
  max_equal_calls: number
  beforeTool: AskBeforeTool
  log: Log
}

/** The rule of a call that was made before, whose result is unknown, and that has none of its own. */
const AFTER_UNKNOWN = readApproval({ by: 'asker' })

/**
 * Decides what becomes of a call that was requested: it is refused, participants decide on it, or it can start.
 *
 * @param calls all of the answer, in their order
 */
export async function examine(judging: Judging, call: CallRow, calls: readonly CallRow[]): Promise<Examined> {
  const refused = (...reason: Parameters<typeof failed>): Examined => ({
    kind: 'refused',
    move: { call, act: 'refuse', ...failed(...reason) },
  })
  const tool = judging.tools.get(call.name)
  const ofStep = calls.filter(({ step }) => step === call.step)
  if (ofStep.indexOf(call) >= MAX_CALLS) return refused('too_many_calls')
  if (!tool) return refused('unknown_tool')
  if (call.input === null) return refused('invalid_input')
  const key = keyOfCall(call)
  const equal = calls.slice(0, calls.indexOf(call)).filter((other) => keyOfCall(other) === key)
  if (equal.length >= judging.max_equal_calls) return refused('repeated')
  const checked = await tool.validate(fromStoredValue(call.input))
  if (checked.issues !== undefined) {
    if (checked.error !== undefined) logFailure(judging, call, checked.error)
    return refusedFor(call, tool, `${CALL_FAILURES.invalid_input} ${checked.issues}`)
  }
  try {
    const verdict = await judging.beforeTool(toShown(judging, call, checked.value))
    if (verdict.refuse !== undefined) return refused('refused', verdict.refuse || undefined)
    const isUnsure = equal.some(({ state }) => state === 'unknown')
    const rule = verdict.approval ?? (await tool.approval(checked.value)) ?? (isUnsure ? AFTER_UNKNOWN : undefined)
    return rule ? { kind: 'asks', call, rule } : { kind: 'ready', call }
  } catch (error) {
    logFailure(judging, call, error)
    return refused('tool_error')
  }
}

/** What is wrong with an input may have parts of it: readers get it only where they get the input. */
function refusedFor(call: CallRow, { show }: Tool, text: string): Examined {
  const { change, shown } = failed('invalid_input', text)
  const forAll = show === 'name' ? failed('invalid_input').shown : shown
  return { kind: 'refused', move: { call, act: 'refuse', ...(change && { change }), ...(forAll && { shown: forAll }) } }
}

function toShown({ assistant }: Judging, call: CallRow, input: unknown): ToolBefore {
  const { id: call_id, name, conversation_id, message_id, user_id } = call
  return { call_id, name, input, assistant, conversation_id, message_id, ...(user_id !== null && { user_id }) }
}

function logFailure({ log }: Judging, { id, name }: CallRow, error: unknown): void {
  log.error('A tool has failed', { call_id: id, tool: name, cause: causeText(error) })
}
