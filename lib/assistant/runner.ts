import { endAnswer, INTERRUPTED } from '../chat/answers/ending.ts'
import type { PartChange } from '../chat/answers/schema-parts.ts'
import { lockAsSystem } from '../chat/memberships/access.ts'
import { toStored } from '../chat/memberships/store-conversations.ts'
import type { MessageRow } from '../chat/messages/store.ts'
import { replaceMetadata } from '../chat/messages/store-changes.ts'
import { notifyAsker } from '../chat/notifications/answered.ts'
import type { Context, Streams } from '../context.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { singleFlight } from '../core/scheduling/once.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import { createAnswerParts } from './answer-parts.ts'
import { type AnswerOutcome, type AnswerOutput, ask, ENDED, type OpenFile, STOPPING } from './ask.ts'
import type { AssistantSettings, Assistants } from './assistants.ts'
import { type ChunkWriter, createChunkWriter } from './chunk-writer.ts'
import { type Draft, endText } from './drafts.ts'
import { createLeases } from './leases.ts'
import { toSoFar } from './so-far.ts'

/** A message that the host writes in this process. */
export interface HostedMessage {
  /** Aborts when it has ended elsewhere, and when the service stops. */
  signal: AbortSignal
  add(text: string): void
  /** Stores the rest of the text, then runs `end`. @returns whether that has ended it */
  settle(end: (tx: Tx) => Promise<boolean>): Promise<boolean>
  /** Writes it no longer. */
  close(): void
}

/** The maximum length of a chunk that the host writes: a UTF-16 unit takes at most 3 bytes of UTF-8. */
const HOSTED_LENGTH = Math.floor(MAX_LENGTH.chunk / 3)

/** The end of an answer whose provider calls tools. */
const WITHOUT_TOOLS: AnswerOutcome = {
  end: { status: 'failed', finish_reason: 'failed', failure: 'invalid_answer' },
  calls: [],
}

interface Run extends Draft {
  control: AbortController
  over: Promise<void>
}

type RunnerContext = Pick<Context, 'config' | 'db' | 'write' | 'metrics' | 'log' | 'now' | 'id'> &
  Pick<Streams, 'presence'> & {
    assistants: Assistants
    openFile: OpenFile
  }

/** The answers this process writes. */
export type Runner = ReturnType<typeof createRunner>

/** Writes answers: calls the assistant, stores its text, and ends each answer in any case. */
export function createRunner(ctx: RunnerContext) {
  const { config, metrics } = ctx
  const leases = createLeases(ctx)
  const chunkWriter = createChunkWriter(ctx)
  const runs = createRuns(ctx, chunkWriter, leases.writer)
  let drainUntil: number | undefined

  const renewLeases = singleFlight(async () => {
    for (const messageId of await leases.renew(runs.ids())) runs.abandon(messageId)
    await leases.recover(runs.has)
  })

  return {
    /** @throws ChatError `conflict` if there is no assistant; `unavailable` once the service stops */
    assertOpen(): void {
      if (!ctx.assistants.fallback) throw new ChatError('conflict', { message: 'The service has no assistant.' })
      if (drainUntil !== undefined) throw new ChatError('unavailable', { retry_after_seconds: 1 })
    },

    /** @throws ChatError `unavailable` once the service stops */
    assertMayStream(): void {
      if (drainUntil !== undefined) throw new ChatError('unavailable', { retry_after_seconds: 1 })
    },

    /** The id of this process in the leases. */
    writer: leases.writer,

    claim: leases.claim,
    start: runs.start,
    takeHosted: runs.takeHosted,
    idle: runs.idle,
    size: runs.size,

    /** Stops writing an answer that was ended: cancelled, if nothing else is said. */
    ended(messageId: string, status = 'cancelled'): void {
      metrics.answered(status)
      runs.abandon(messageId)
    },

    /** Renews the leases of the answers written here, and ends answers with an expired lease. One run at a time. */
    renewLeases,

    /** Refuses new answers from now on. */
    drain(): void {
      drainUntil ??= performance.now() + config.assistant.drain_seconds * 1000
    },

    /** Waits a few seconds, from `drain` on, for answers to end, and interrupts the others. */
    async stop(): Promise<void> {
      const interrupt = () => {
        chunkWriter.stop()
        runs.interrupt()
      }
      const timer = setTimeout(interrupt, Math.max(0, (drainUntil ?? 0) - performance.now()))
      await runs.idle()
      clearTimeout(timer)
      chunkWriter.stop()
      runs.close()
      await renewLeases.current()?.catch(() => {})
    },
  }
}

/**
 * Ends an answer, unless this process has lost it.
 *
 * @param isAway whether the user who asked has no open stream, and is notified
 */
async function endRun(
  ctx: RunnerContext,
  tx: Tx,
  run: Run,
  { end, metadata }: Omit<AnswerOutcome, 'calls'>,
  isAway: boolean,
): Promise<boolean> {
  const at = await lockAsSystem(ctx, tx, run.conversation_id)
  if (at === undefined) return false
  if (!(await endAnswer(tx, run, end, { only: { writer: run.writer } }))) return false
  if (metadata) await replaceMetadata(tx, run.message_id, toStored(metadata))
  if (isAway) await notifyAsker(ctx, tx, run, at)
  return true
}

/** Stores what a provider writes, until this process has lost the answer. */
function createAnswerOutput({ id }: RunnerContext, chunkWriter: ChunkWriter, run: Run): AnswerOutput {
  const sink = {
    next: () => endText(run),
    add: (part: PartChange, provider_data?: string) => chunkWriter.addRow(run, { content: '', part, provider_data }),
  }
  const parts = createAnswerParts(sink, id, { step: 1, so_far: toSoFar([]) })
  const stopIfLost = () => run.isLost && run.control.abort(ENDED)
  return {
    text(text, provider_data) {
      if (provider_data === undefined) chunkWriter.add(run, text)
      else chunkWriter.addRow(run, { content: text, provider_data })
      stopIfLost()
    },
    part(part) {
      parts.add(part)
      stopIfLost()
    },
  }
}

/** The answers in progress in this process. */
function createRuns(ctx: RunnerContext, chunkWriter: ChunkWriter, writer: string) {
  const runs = new Map<string, Run>()
  let state: 'open' | 'interrupting' | 'closed' = 'open'

  async function write(assistant: AssistantSettings, row: MessageRow, run: Run): Promise<void> {
    try {
      const asked = await ask({ ...ctx, assistant }, row, run.control, createAnswerOutput(ctx, chunkWriter, run))
      if (!asked) return
      const outcome = asked.calls.length > 0 ? WITHOUT_TOOLS : asked
      const isAway = !(await ctx.presence.hasStream(row.posted_by!))
      const isEnded = await chunkWriter.settle(run, (tx) => endRun(ctx, tx, run, outcome, isAway))
      if (isEnded) ctx.metrics.answered(outcome.end.status)
    } finally {
      chunkWriter.drop(run)
    }
  }

  return {
    /** Starts to write a claimed answer. After `close` it is left to other processes: its lease will expire. */
    start(row: MessageRow): void {
      const { find, fallback } = ctx.assistants
      const assistant = (row.assistant ? find(row.assistant) : undefined) ?? fallback
      if (state === 'closed' || !assistant) return
      const { id: message_id, conversation_id, root_id, parent_id, depth } = row
      const place = { message_id, conversation_id, root_id, parent_id, depth, writer }
      const run: Run = { ...place, pending: '', stored: 0, control: new AbortController(), over: Promise.resolve() }
      runs.set(message_id, run)
      if (state === 'interrupting') run.control.abort(STOPPING)
      run.over = write(assistant, row, run)
        .catch((error) => ctx.log.error('An answer could not be written', { message_id, cause: String(error) }))
        .finally(() => runs.delete(message_id))
    },

    /** Takes a message that the host writes in this process. When the service stops, it is interrupted. */
    takeHosted(place: Omit<Draft, 'writer' | 'pending' | 'stored'>): HostedMessage {
      const control = new AbortController()
      let release = () => {}
      const over = new Promise<void>((resolve) => {
        release = resolve
      })
      const run: Run = { ...place, writer, chunk_length: HOSTED_LENGTH, pending: '', stored: 0, control, over }
      runs.set(run.message_id, run)
      const close = () => {
        chunkWriter.drop(run)
        runs.delete(run.message_id)
        release()
      }
      const interrupt = async () => {
        const isEnded = await chunkWriter.settle(run, (tx) => endRun(ctx, tx, run, { end: INTERRUPTED }, false))
        if (isEnded) ctx.metrics.answered(INTERRUPTED.status)
      }
      const { signal } = control
      signal.addEventListener('abort', () => {
        if (signal.reason !== STOPPING) return close()
        interrupt()
          .catch((error) => ctx.log.error('A message could not be interrupted', { cause: causeText(error) }))
          .finally(close)
      })
      if (state !== 'open') control.abort(state === 'closed' ? ENDED : STOPPING)
      return {
        signal,
        add(text) {
          if (!signal.aborted) chunkWriter.add(run, text)
          if (run.isLost) control.abort(ENDED)
        },
        settle: (end) => chunkWriter.settle(run, end),
        close,
      }
    },

    /** Stops writing an answer that was ended elsewhere. */
    abandon: (messageId: string) => runs.get(messageId)?.control.abort(ENDED),

    /** Ends all answers, and those that start from now on, as interrupted. */
    interrupt(): void {
      state = 'interrupting'
      for (const run of runs.values()) run.control.abort(STOPPING)
    },

    close(): void {
      state = 'closed'
    },

    /** Resolves once no answer is in progress. */
    async idle(): Promise<void> {
      while (runs.size > 0) await Promise.all([...runs.values()].map((run) => run.over))
    },

    ids: () => [...runs.keys()],
    has: (messageId: string) => runs.has(messageId),
    size: () => runs.size,
  }
}
