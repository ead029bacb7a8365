import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { failed } from '../../chat/answers/calls.ts'
import { INTERRUPTED } from '../../chat/answers/ending.ts'
import { isBeyondLimits } from '../../chat/answers/rules-limits.ts'
import type { FailureCode } from '../../chat/answers/schema-failures.ts'
import type { CallRow } from '../../chat/answers/store-calls.ts'
import { spentOf } from '../../chat/answers/store-runs.ts'
import type { MessageRow } from '../../chat/messages/store.ts'
import { NOTHING_SPENT } from '../../chat/metering/rules-spent.ts'
import type { Context } from '../../context.ts'
import type { StepPlace } from '../answer-parts.ts'
import { type AnswerOutcome, ask, type OpenFile, type SaveFile, STOPPING } from '../ask.ts'
import type { AssistantSettings } from '../assistants.ts'
import type { Draft } from '../drafts.ts'
import type { GivenPart } from '../provider.ts'
import { readSoFar, toSoFar } from '../so-far.ts'
import type { Tool } from '../tools/tool.ts'
import { createContextReader } from './context-reader.ts'
import type { AskBeforeTool } from './examine.ts'
import { valuesOf } from './hidden-values.ts'
import type { StepOutput } from './output.ts'
import type { Review } from './reviewing.ts'
import { runCalls } from './run-calls.ts'
import type { createRunStore } from './storing.ts'
import type { TakenRun } from './take-over.ts'

/** An answer that this process writes. */
export interface WrittenAnswer {
  assistant: AssistantSettings
  row: MessageRow
  run: Draft & { control: AbortController }
  /** Where another process has left it. */
  taken?: TakenRun | undefined
  /** Whether the service stops: nothing new starts. */
  isDraining(): boolean
  /** Resolves when participants may have decided. */
  woken(): Promise<void>
}

export interface WritingDeps {
  ctx: Pick<Context, 'db' | 'metrics' | 'log'> & { openFile: OpenFile; saveFile: SaveFile }
  store: ReturnType<typeof createRunStore>
  beforeTool: AskBeforeTool
  /** Where the text and the parts of a step go. */
  output(place: StepPlace): StepOutput
  review: Review
  finish(outcome: Omit<AnswerOutcome, 'calls'>): Promise<void>
}

/**
 * Writes an answer to its end, or until participants decide: asks the model, runs the tools that it calls, and asks it again
 * with the results.
 */
export async function writeAnswer(deps: WritingDeps, answer: WrittenAnswer): Promise<void> {
  const { assistant, taken, run } = answer
  const started = performance.now()
  const before = taken?.run.ran_ms ?? 0
  const ran_ms = () => before + Math.round(performance.now() - started)
  const timeout = () => run.control.abort(new AnswerFailure('timeout'))
  const timer = setTimeout(timeout, Math.max(0, assistant.run_seconds * 1000 - before))
  try {
    await writeSteps(deps, { ...answer, ran_ms })
  } finally {
    clearTimeout(timer)
  }
}

async function writeSteps(deps: WritingDeps, answer: WrittenAnswer & { ran_ms(): number }): Promise<void> {
  const { assistant, row, run, taken, ran_ms } = answer
  const tools = new Map(assistant.tools.map((tool) => [tool.name, tool]))
  const calls: CallRow[] = taken?.calls ?? []
  const ctx = { ...deps.ctx, assistant, readContext: createContextReader(deps.ctx.db, assistant, { row, run }) }
  let spent = taken ? spentOf(taken.run) : NOTHING_SPENT
  let metadata: AnswerOutcome['metadata'] = taken?.run.metadata ? JSON.parse(taken.run.metadata) : undefined
  if (taken && taken.run.step >= assistant.max_steps)
    return endAtLastStep(
      deps,
      answer,
      calls.filter(({ step }) => step === taken.run.step),
    )
  if (taken && !taken.isOver && !(await runToEnd(deps, { ...answer, tools }, calls))) return
  for (let step = taken ? taken.run.step + 1 : 1; ; step++) {
    const so_far = step === 1 ? toSoFar([]) : await readSoFar(deps.ctx.db, run.message_id)
    if (isBeyondLimits(so_far.used)) return deps.finish(failedWith('answer_too_long'))
    if (step > 1 && answer.isDraining()) return void (await deps.store.release(run, { isAsked: false }))
    const isLast = step >= assistant.max_steps
    const output = deps.output({ step, so_far })
    const written = await ask(ctx, row, run.control, output, {
      step,
      so_far: withValues(so_far.parts, calls),
      tools: isLast ? [] : assistant.tools.map(({ name, description, schema }) => ({ name, description, schema })),
    })
    metadata = written?.metadata ?? metadata
    const outcome = written && (await deps.review(run, { ...written, metadata }))
    if (!outcome) return
    const isHandedOver = step > 1 && outcome.end === INTERRUPTED && (assistant.hold || !output.hasBegun())
    if (isHandedOver) return void (await deps.store.release(run))
    if (outcome.calls.length === 0) return deps.finish(outcome)
    const end = {
      step,
      calls: outcome.calls,
      usage: outcome.end.usage,
      assistant: assistant.key,
      spent,
      ran_ms: ran_ms(),
      metadata,
      used: output.used(),
    }
    const requested = await deps.store.request(run, row.posted_by!, end, tools)
    if (!requested) return
    if (requested === 'answer_too_long') return deps.finish(failedWith(requested, outcome.end.usage))
    calls.push(...requested.calls)
    spent = requested.spent
    if (isLast) return endAtLastStep(deps, answer, requested.calls)
    if (!(await runToEnd(deps, { ...answer, tools }, calls))) return
  }
}

/** Runs the calls until all have ended. @returns false if this process does not go on with the answer */
async function runToEnd(
  { ctx, store, beforeTool, finish }: WritingDeps,
  answer: WrittenAnswer & { ran_ms(): number; tools: ReadonlyMap<string, Tool> },
  calls: CallRow[],
): Promise<boolean> {
  const { assistant, run, ran_ms, isDraining, woken, tools } = answer
  const { signal } = run.control
  const { max_equal_calls, key } = assistant
  const deps = {
    tools,
    assistant: key,
    max_equal_calls,
    beforeTool,
    log: ctx.log,
    saveFile: ctx.saveFile,
    store,
  }
  const end = await runCalls(deps, { run, calls, signal, isDraining, ran_ms, woken })
  if (end === 'too_many_steps') await finish(failedWith(end))
  if (end !== 'lost') return end === 'over'
  if (signal.reason === STOPPING) await store.release(run)
  if (signal.reason instanceof AnswerFailure) await finish(failedWith(signal.reason.code))
  return false
}

/** The model has called tools although it had no more steps. */
async function endAtLastStep(
  { store, finish }: WritingDeps,
  { run, ran_ms }: WrittenAnswer & { ran_ms(): number },
  calls: CallRow[],
): Promise<void> {
  const moves = calls.map((call) => ({ call, act: 'refuse' as const, ...failed('too_many_steps') }))
  if (await store.progress(run, calls, { moves, asks: [], starts: [], ran_ms: ran_ms(), isEnding: true }))
    await finish(failedWith('too_many_steps'))
}

const failedWith = (failure: FailureCode, usage?: AnswerOutcome['end']['usage']): Pick<AnswerOutcome, 'end'> => ({
  end: { status: 'failed', finish_reason: 'failed', failure, usage },
})

/** The parts with the inputs and outputs of calls that readers do not get. */
function withValues(parts: readonly GivenPart[], calls: readonly CallRow[]): GivenPart[] {
  const byId = new Map(calls.map((call) => [call.id, call]))
  return parts.map((part) => {
    const call = part.type === 'tool' ? byId.get(part.call_id) : undefined
    return call ? { ...part, ...valuesOf(call) } : part
  })
}
