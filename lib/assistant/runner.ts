import { setTimeout as sleep } from 'node:timers/promises'
import { endAnswer, INTERRUPTED } from '../chat/answers/ending.ts'
import { AnswerFailure } from '../chat/answers/failure.ts'
import { toTurns } from '../chat/answers/rules.ts'
import type { AnswerEnd } from '../chat/answers/store.ts'
import { enterUnattended } from '../chat/conversations/access.ts'
import { pathsDownTo } from '../chat/messages/rules.ts'
import { listAtPaths, type MessageRow } from '../chat/messages/store.ts'
import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { createScribe, RETRY_MS } from './chunk-writer.ts'
import type { Draft } from './drafts.ts'
import { createLeases } from './leases.ts'
import { readAnswer } from './openai/answer.ts'
import type { Assistant, Turn } from './provider.ts'

/** Why an answer is given up: somebody else has ended it, or the service stops. */
const GONE = new Error('The answer has ended')
const STOPPING = new Error('The service stops')

interface Run extends Draft {
  control: AbortController
  over: Promise<void>
}

/** How asking the assistant went. */
interface Outcome {
  end: AnswerEnd
  failure?: AnswerFailure
}

/** The answers this process writes. */
export type Runner = ReturnType<typeof createRunner>

/** Has answers written: asks the assistant, stores what it says, and sees to it that each answer ends. */
export function createRunner(
  ctx: Pick<Context, 'config' | 'db' | 'write' | 'metrics' | 'log' | 'now'> & { provider: Assistant },
) {
  const { config, metrics, log } = ctx
  const { timeout_seconds, answer_bytes } = config.assistant
  const scribe = createScribe(ctx)
  const leases = createLeases(ctx)
  const runs = new Map<string, Run>()
  let drainUntil: number | undefined
  let stop: 'waiting' | 'giving up' | 'done' | undefined
  let tending: Promise<void> | undefined

  async function write(row: MessageRow, run: Run): Promise<void> {
    try {
      const outcome = await ask(row, run)
      if (!outcome) return
      const { end, failure } = outcome
      const isEnded = await scribe.settle(run, async (tx) => {
        if ((await enterUnattended(ctx, tx, run.conversation_id)) === undefined) return false
        return endAnswer(tx, run, end, { failure: failure?.code, only: { writer: leases.writer } })
      })
      if (isEnded) metrics.answered(end.status)
    } finally {
      scribe.drop(run)
    }
  }

  /** @returns how it went; nothing when the answer has ended otherwise */
  async function ask(row: MessageRow, run: Run): Promise<Outcome | undefined> {
    const { signal } = run.control
    const timeout = setTimeout(() => run.control.abort(new AnswerFailure('timeout')), timeout_seconds * 1000)
    try {
      const { finish_reason, usage } = await read(row, run, signal)
      return { end: { status: 'complete', finish_reason, usage } }
    } catch (caught) {
      const error = signal.aborted ? signal.reason : caught
      if (error === GONE) return undefined
      if (error === STOPPING) return { end: INTERRUPTED }
      const failure = error instanceof AnswerFailure ? error : new AnswerFailure('provider_error', error)
      log.warn('An answer failed', { message_id: run.message_id, code: failure.code, ...causeOf(failure) })
      return { end: { status: 'failed', finish_reason: 'failed' }, failure }
    } finally {
      clearTimeout(timeout)
    }
  }

  async function read(row: MessageRow, run: Run, signal: AbortSignal) {
    const started = performance.now()
    const { message_id, conversation_id, root_id } = run
    const turns = await readTurns(row, signal)
    const pieces = ctx.provider({ message_id, conversation_id, root_id, requested_by: row.posted_by!, turns, signal })
    let isFirst = true
    return readAnswer(pieces, { signal, answer_bytes }, (text) => {
      if (isFirst) metrics.firstDelta((performance.now() - started) / 1000)
      isFirst = false
      scribe.take(run, text)
      if (run.isLost) run.control.abort(GONE)
    })
  }

  /** What the answer continues. A storage that is busy is no reason to give up before the time is over. */
  async function readTurns({ root_id, path }: MessageRow, signal: AbortSignal): Promise<Turn[]> {
    const { system_prompt, context_bytes } = config.assistant
    for (;;) {
      try {
        return toTurns(await listAtPaths(ctx.db, root_id, pathsDownTo(path)), { system_prompt, bytes: context_bytes })
      } catch (error) {
        if (!(error instanceof ChatError && error.code === 'unavailable')) throw error
      }
      await sleep(RETRY_MS, undefined, { signal })
    }
  }

  async function tend(): Promise<void> {
    for (const messageId of await leases.renew([...runs.keys()])) abandon(messageId)
    await leases.recover((messageId) => runs.has(messageId))
  }

  function abandon(messageId: string): void {
    runs.get(messageId)?.control.abort(GONE)
  }

  async function idle(): Promise<void> {
    while (runs.size > 0) await Promise.all([...runs.values()].map((run) => run.over))
  }

  function giveUp(): void {
    stop = 'giving up'
    scribe.stop()
    for (const run of runs.values()) run.control.abort(STOPPING)
  }

  return {
    /** @throws ChatError `unavailable` once the service stops */
    assertOpen(): void {
      if (drainUntil !== undefined) throw new ChatError('unavailable', { retry_after_seconds: 1 })
    },

    claim: leases.claim,

    /** Begins to write a claimed answer. One that comes too late is left to others: its lease will lapse. */
    start(row: MessageRow): void {
      if (stop === 'done') return
      const { id: message_id, conversation_id, root_id, parent_id, depth } = row
      const place = { message_id, conversation_id, root_id, parent_id, depth, writer: leases.writer }
      const run: Run = { ...place, pending: '', stored: 0, control: new AbortController(), over: Promise.resolve() }
      runs.set(message_id, run)
      if (stop === 'giving up') run.control.abort(STOPPING)
      run.over = write(row, run)
        .catch((error) => log.error('An answer could not be written', { message_id, cause: String(error) }))
        .finally(() => runs.delete(message_id))
    },

    /** Stops writing an answer that was cancelled. */
    cancelled(messageId: string): void {
      metrics.answered('cancelled')
      abandon(messageId)
    },

    /** What has to be done every few seconds: leases renewed, answers that were left ended. One at a time. */
    tend(): Promise<void> {
      tending ??= tend().finally(() => (tending = undefined))
      return tending
    },

    /** Resolves once no answer is under way. */
    idle,
    size: () => runs.size,

    /** From now on no answer is begun. */
    drain(): void {
      drainUntil ??= performance.now() + config.assistant.drain_seconds * 1000
    },

    /** Waits a few seconds, from `drain` on, for answers to end, and interrupts the others. */
    async stop(): Promise<void> {
      stop = 'waiting'
      const timer = setTimeout(giveUp, Math.max(0, (drainUntil ?? 0) - performance.now()))
      await idle()
      clearTimeout(timer)
      scribe.stop()
      stop = 'done'
      await tending?.catch(() => {})
    },
  }
}

/** Why an answer failed, where more is known than its code; what a provider throws may be anything. */
function causeOf({ cause }: AnswerFailure): { cause?: string } {
  if (cause === undefined) return {}
  if (cause instanceof Error) return { cause: `${cause.name}: ${cause.message}` }
  return { cause: typeof cause === 'string' ? cause : 'something that is no error was thrown' }
}
