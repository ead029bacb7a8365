import { findApproved } from '../chat/answers/store-calls.ts'
import { findMessage } from '../chat/messages/store.ts'
import { ChatError } from '../core/errors.ts'
import { repeatIfCalled } from '../core/scheduling/once.ts'
import { createChunkWriter } from './chunk-writer.ts'
import { createLeases } from './leases.ts'
import { createRuns, type RunsContext } from './runs/process-runs.ts'

export type { HostedMessage } from './runs/process-runs.ts'

/** The answers this process writes. */
export type Runner = ReturnType<typeof createRunner>

/** Writes answers: calls the assistant, runs its tools, stores its text, and ends each answer in any case. */
export function createRunner(ctx: RunsContext) {
  const { config, metrics } = ctx
  const leases = createLeases(ctx)
  const chunkWriter = createChunkWriter(ctx)
  let drainUntil: number | undefined
  /** Only a service that was started takes answers. */
  let isStarted = false
  const isDraining = () => drainUntil !== undefined
  const runs = createRuns(ctx, { chunkWriter, writer: leases.writer, isDraining })

  /** Ends answers that no process writes any more, and goes on with those that have calls of tools. */
  async function recover(): Promise<void> {
    await leases.recover(runs.has, {
      mayTake: !isDraining(),
      async onTaken(messageId, taken) {
        const row = await findMessage(ctx.db, messageId)
        if (row) runs.start(row, taken)
      },
    })
  }

  const renewLeases = repeatIfCalled(async () => {
    isStarted = true
    for (const messageId of await leases.renew(runs.ids())) runs.abandon(messageId)
    const waiting = runs.listWaiting()
    // Participants may have decided on another node.
    for (const messageId of waiting.length > 0 ? await findApproved(ctx.db, waiting) : []) runs.wake(messageId)
    await recover()
  })

  return {
    /** @throws ChatError `conflict` if there is no assistant; `unavailable` once the service stops */
    assertOpen(): void {
      if (!ctx.assistants.fallback) throw new ChatError('conflict', { message: 'The service has no assistant.' })
      if (isDraining()) throw new ChatError('unavailable', { retry_after_seconds: 1 })
    },

    /** @throws ChatError `unavailable` once the service stops */
    assertMayStream(): void {
      if (isDraining()) throw new ChatError('unavailable', { retry_after_seconds: 1 })
    },

    /** The id of this process in the leases. */
    writer: leases.writer,

    claim: leases.claim,
    /** How files of providers are stored. */
    storeFilesWith: runs.storeFilesWith,
    start: (row: Parameters<typeof runs.start>[0]) => runs.start(row),
    takeHosted: runs.takeHosted,
    /** Resolves once no answer is in progress here; one that participants let go on is. */
    async idle(): Promise<void> {
      await renewLeases.current()?.catch(() => {})
      await runs.idle()
    },
    size: runs.size,

    /** Stops writing an answer that was ended: cancelled, if nothing else is said. */
    ended(messageId: string, status = 'cancelled'): void {
      metrics.answered(status)
      runs.abandon(messageId)
    },

    /** Goes on with an answer on whose calls participants have decided: here, or in the process that takes it. */
    decided(messageId: string): void {
      if (runs.has(messageId)) runs.wake(messageId)
      else if (isStarted) void renewLeases().catch(() => {}) // The storage fails: the next run retries.
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
