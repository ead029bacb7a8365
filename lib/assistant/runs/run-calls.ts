import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CallMove, failed } from '../../chat/answers/calls.ts'
import type { ToolError } from '../../chat/answers/schema-parts.ts'
import type { CallRow } from '../../chat/answers/store-calls.ts'
import type { Draft } from '../drafts.ts'
import { LEASE } from '../lease.ts'
import type { Asker } from './asker.ts'
import { keyOfCall } from './equal-calls.ts'
import { type Examined, examine, type Judging } from './examine.ts'
import { runTool, type ToolDeps } from './run-tool.ts'
import type { AfterProgress, createRunStore } from './storing.ts'

/** How many calls of an answer run at once. */
const MAX_RUNNING = 4

/** The second call that was made too often ends its answer. */
const MAX_REPEATED = 2

/** An answer whose calls this process runs. */
export interface Calling {
  run: Draft
  /** All calls of the answer, in their order. */
  calls: CallRow[]
  /** Aborts when the answer has ended, and when the service stops. */
  signal: AbortSignal
  /** Whether nothing new starts: the service stops. */
  isDraining(): boolean
  /** How long the answer has run so far, in milliseconds. */
  ran_ms(): number
  /** Resolves when participants may have decided. */
  woken(): Promise<void>
}

/** How the calls of an answer have ended for this process. */
export type CallsEnd =
  /** All have ended: the model goes on. */
  | 'over'
  /** Participants decide on those that are left: no process holds the answer. */
  | 'waiting'
  /** Another process goes on. */
  | 'released'
  | 'too_many_steps'
  /** The answer has ended, or is not this process's any more. */
  | 'lost'

/** What running the calls of an answer needs. */
export interface CallsDeps extends Judging, ToolDeps {
  store: ReturnType<typeof createRunStore>
}

/** Starts the calls of an answer, a few at once, and stores what becomes of them. */
export async function runCalls(deps: CallsDeps, calling: Calling): Promise<CallsEnd> {
  const { run, calls, signal } = calling
  const byId = new Map(calls.map((call) => [call.id, call]))
  const judged = new Map<string, Examined>()
  // A call is in it until its result is stored.
  const going = new Map<string, Promise<void>>()
  const results: CallMove[] = []
  const over = aborted(signal)

  const isReady = ({ id, state }: CallRow) =>
    !going.has(id) &&
    (state === 'approved' || state === 'running' || (state === 'requested' && judged.get(id)?.kind === 'ready'))

  const isFresh = ({ id, state }: CallRow) => state === 'requested' && !judged.has(id)

  async function judge(): Promise<Examined[]> {
    const fresh = calls.filter(isFresh)
    // Inputs may be long: other work gets a turn between two.
    for (const call of fresh) {
      keyOfCall(call)
      await nextTurn()
    }
    const examined = await Promise.all(fresh.map((call) => examine(deps, call, calls)))
    for (const [n, each] of examined.entries()) judged.set(fresh[n]!.id, each)
    return examined
  }

  /** An equal call that has not started yet needs an approval once the outcome of this one is unknown. */
  function judgeEqualAgain(lost: CallRow): void {
    for (const call of calls)
      if (call.state === 'requested' && keyOfCall(call) === keyOfCall(lost)) judged.delete(call.id)
  }

  function launch(call: CallRow, asker: Asker): void {
    const started = {
      call,
      tool: deps.tools.get(call.name)!,
      attempt: call.attempts,
      assistant: deps.assistant,
      signal,
    }
    const stored = runTool(deps, { ...started, ...asker }).then((move) => {
      if (move) results.push(move)
    })
    going.set(call.id, stored)
  }

  /** Brings the calls to where the transaction has left them: participants may have decided meanwhile. */
  function apply({ states, started, asker }: AfterProgress, moves: readonly CallMove[]): void {
    for (const { call, change } of moves) Object.assign(byId.get(call.id)!, change)
    for (const call of calls) {
      const state = states.get(call.id)!
      if (state !== 'running') going.delete(call.id)
      call.state = state
    }
    for (const call of started) {
      call.attempts++
      launch(call, asker!)
    }
  }

  for (;;) {
    const others = await Promise.race([judge(), over])
    if (!others) return 'lost'
    const finished = results.splice(0)
    for (const { call, act } of finished) if (act === 'lose') judgeEqualAgain(byId.get(call.id)!)
    const ready = calling.isDraining() ? [] : calls.filter(isReady)
    const starts = ready.filter(({ name }) => deps.tools.has(name)).slice(0, MAX_RUNNING - going.size + finished.length)
    const moves = [
      ...finished,
      ...others.flatMap((each) => (each.kind === 'refused' ? each.move : [])),
      ...ready.filter(({ name }) => !deps.tools.has(name)).map(toGone),
    ]
    const asks = others.flatMap((each) => (each.kind === 'asks' ? each : []))
    const isEnding = countRepeated(calls) + countRepeated(moves.map(({ change }) => change)) >= MAX_REPEATED
    const wanted = isEnding ? { moves, asks: [], starts: [], isEnding } : { moves, asks, starts }
    const asked_at = performance.now()
    const after = await deps.store.progress(run, calls, { ...wanted, ran_ms: calling.ran_ms() })
    // A process that has slept for so long does not hold the answer any more: another one knows what to do.
    if (!after || performance.now() - asked_at > LEASE / 1000) return 'lost'
    apply(after, moves)
    if (isEnding) return 'too_many_steps'
    if (after.state !== 'running') return after.state
    if (going.size === 0 && calling.isDraining()) return (await deps.store.release(run)) ? 'released' : 'lost'
    if (calls.some(isFresh) || (going.size < MAX_RUNNING && calls.some(isReady) && !calling.isDraining())) continue
    const decided = calls.some(({ state }) => state === 'waiting') ? [calling.woken()] : []
    await Promise.race([...going.values(), ...decided, over])
    if (signal.aborted) return 'lost'
  }
}

/** The tool is not configured any more. */
function toGone(call: CallRow): CallMove {
  return { call, act: call.state === 'running' ? 'lose' : 'refuse', ...failed('unknown_tool') }
}

function countRepeated(calls: readonly (Pick<CallMove, 'change'>['change'] | undefined)[]): number {
  return calls.filter((call) => call?.error && (JSON.parse(call.error) as ToolError).code === 'repeated').length
}

/** Resolves when a signal has aborted. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
