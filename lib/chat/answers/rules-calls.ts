import type { ToolState } from './schema-parts.ts'

/**
 * What happens to a call of a tool:
 *
 * - `ask`: participants decide on it; `exceed`: too many calls wait already
 * - `approve`, `deny`, `expire`: the outcome of that
 * - `refuse`: it may not start
 * - `start`: its function is called; `restart`: once more, after its process has died
 * - `finish`, `fail`: it has a result; `lose`: it is not known whether it has happened
 * - `stop`: its answer ends
 */
export type CallAct =
  | 'ask'
  | 'exceed'
  | 'approve'
  | 'deny'
  | 'expire'
  | 'refuse'
  | 'start'
  | 'restart'
  | 'finish'
  | 'fail'
  | 'lose'
  | 'stop'

/** The life of a call: what may happen in each state, and the state after it. A state without acts is an end. */
export const CALL_STATES: Record<ToolState, Partial<Record<CallAct, ToolState>>> = {
  requested: { ask: 'waiting', exceed: 'denied', refuse: 'failed', start: 'running', stop: 'cancelled' },
  waiting: { approve: 'approved', deny: 'denied', expire: 'expired', stop: 'cancelled' },
  approved: { refuse: 'failed', start: 'running', stop: 'cancelled' },
  // Restarted only if its tool is idempotent.
  running: { restart: 'running', finish: 'done', fail: 'failed', lose: 'unknown', stop: 'unknown' },
  done: {},
  failed: {},
  denied: {},
  expired: {},
  unknown: {},
  cancelled: {},
}

/** Whether a call has ended. */
export function hasEnded(state: ToolState): boolean {
  return Object.keys(CALL_STATES[state]).length === 0
}

/** The state of an answer whose calls are in these states. */
export function stateOfRun(states: readonly ToolState[]): 'running' | 'waiting' | 'over' {
  const open = states.filter((state) => !hasEnded(state))
  if (open.length === 0) return 'over'
  return open.every((state) => state === 'waiting') ? 'waiting' : 'running'
}

/** Why a call of a tool has no result: what its readers and the model are told. */
export const CALL_FAILURES = {
  invalid_input: 'The input of the tool is not valid.',
  unknown_tool: 'There is no such tool.',
  too_many_calls: 'Too many calls at once.',
  repeated: 'The same call was made too often.',
  asker_left: 'The user who asked may not do this any more.',
  refused: 'The call was refused.',
  too_many_steps: 'The answer has no more steps.',
  limit: 'Too many calls wait for a decision.',
  tool_error: 'The tool failed.',
  timeout: 'The tool took too long.',
  output_too_large: 'The output of the tool is too long.',
} as const

export type CallFailureCode = keyof typeof CALL_FAILURES
