import type { Context } from '../context.ts'
import { enterUnattended } from '../conversations/access.ts'
import { ChatError } from '../errors.ts'
import { newId, SECOND } from '../ids.ts'
import { pathsDownTo } from '../messages/rules.ts'
import { listAtPaths, type MessageRow } from '../messages/store.ts'
import type { Queries } from '../storage/database.ts'
import { readAnswer } from './answer.ts'
import type { Draft } from './draft.ts'
import { endAnswer, INTERRUPTED } from './ending.ts'
import { AnswerFailure } from './failure.ts'
import type { Assistant } from './provider.ts'
import { toTurns } from './rules.ts'
import { createScribe } from './scribe.ts'
import { type AnswerEnd, insertUnderWay, listLapsed, renewLeases } from './store.ts'

/** Who writes an answer and is not heard of for so long is taken for dead. */
const LEASE_SECONDS = 10

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
  const { timeout_seconds, system_prompt, context_bytes, answer_bytes } = config.assistant
  const scribe = createScribe(ctx)
  const writer = newId()
  const runs = new Map<string, Run>()
  let drainUntil: number | undefined
  let isStopped = false

  const lease = () => ctx.now() + LEASE_SECONDS * SECOND

  async function write(row: MessageRow, run: Run): Promise<void> {
    const outcome = await ask(row, run)
    if (!outcome) return
    const { end, failure } = outcome
    const ended = await scribe.settle(run, async (tx) => {
      if ((await enterUnattended(ctx, tx, run.conversation_id)) === undefined) return false
      return endAnswer(tx, run, end, { failure: failure?.code, only: { writer } })
    })
    if (ended) metrics.answered(end.status)
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
      log.warn('An answer failed', { message_id: run.message_id, code: failure.code, cause: String(failure.cause) })
      return { end: { status: 'failed', finish_reason: 'failed' }, failure }
    } finally {
      clearTimeout(timeout)
    }
  }

  async function read({ posted_by, root_id, path }: MessageRow, run: Run, signal: AbortSignal) {
    const started = performance.now()
    const { message_id, conversation_id } = run
    const turns = toTurns(await listAtPaths(ctx.db, root_id, pathsDownTo(path)), {
      system_prompt,
      bytes: context_bytes,
    })
    const pieces = ctx.provider({ message_id, conversation_id, root_id, requested_by: posted_by!, turns, signal })
    let isFirst = true
    return readAnswer(pieces, { signal, answer_bytes }, (text) => {
      if (isFirst) metrics.firstDelta((performance.now() - started) / 1000)
      isFirst = false
      scribe.take(run, text)
      if (run.isLost) run.control.abort(GONE)
    })
  }

  /** Says that this process lives, and learns which of its answers others have ended. */
  async function renew(): Promise<void> {
    const known = [...runs.values()]
    if (known.length === 0) return
    const held = await ctx.write((tx) => renewLeases(tx, writer, lease()))
    for (const run of known) if (!held.has(run.message_id)) abandon(run.message_id)
  }

  /** Ends the answers of processes that died. */
  async function recover(): Promise<void> {
    for (const answer of await listLapsed(ctx.db, ctx.now(), writer)) {
      const ended = await ctx.write(async (tx) => {
        if ((await enterUnattended(ctx, tx, answer.conversation_id)) === undefined) return false
        return endAnswer(tx, answer, INTERRUPTED, { only: { lapsed_by: ctx.now() } })
      })
      if (ended) metrics.answered(INTERRUPTED.status)
    }
  }

  function abandon(messageId: string): void {
    runs.get(messageId)?.control.abort(GONE)
  }

  async function idle(): Promise<void> {
    await Promise.all([...runs.values()].map((run) => run.over))
  }

  return {
    /** @throws ChatError `unavailable` once the service stops */
    assertOpen(): void {
      if (drainUntil !== undefined) throw new ChatError('unavailable', { retry_after_seconds: 1 })
    },

    /** Has an answer be this process's to write; part of the transaction that makes its message. */
    claim(tx: Queries, { id: message_id, conversation_id }: MessageRow): Promise<void> {
      return insertUnderWay(tx, { message_id, conversation_id, writer, lease_expires_at: lease() })
    },

    /** Begins to write a claimed answer. One that comes too late is left to others: its lease will lapse. */
    start(row: MessageRow): void {
      if (isStopped) return
      const { id: message_id, conversation_id, root_id, parent_id, depth } = row
      const place = { message_id, conversation_id, root_id, parent_id, depth, writer }
      const run: Run = { ...place, pending: '', stored: 0, control: new AbortController(), over: Promise.resolve() }
      runs.set(message_id, run)
      run.over = write(row, run)
        .catch((error) => log.error('An answer could not be written', { message_id, cause: String(error) }))
        .finally(() => runs.delete(message_id))
    },

    /** Stops writing an answer that was cancelled. */
    cancelled(messageId: string): void {
      metrics.answered('cancelled')
      abandon(messageId)
    },

    /** What has to be done every few seconds: leases renewed, answers of dead processes ended. */
    async tend(): Promise<void> {
      await renew()
      await recover()
    },

    /** Resolves once the answers under way now have ended. */
    idle,
    size: () => runs.size,

    /** From now on no answer is begun. */
    drain(): void {
      drainUntil ??= performance.now() + config.assistant.drain_seconds * 1000
    },

    /** Waits a few seconds, from `drain` on, for answers to end, and interrupts the others. */
    async stop(): Promise<void> {
      const patience = Math.max(0, (drainUntil ?? 0) - performance.now())
      const timer = setTimeout(() => {
        scribe.stop()
        for (const run of runs.values()) run.control.abort(STOPPING)
      }, patience)
      await idle()
      clearTimeout(timer)
      isStopped = true
    },
  }
}
