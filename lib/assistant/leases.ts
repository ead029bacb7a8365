import { endAnswer, INTERRUPTED } from '../chat/answers/ending.ts'
import {
  insertUnderWay,
  type LapsedAnswer,
  listLapsed,
  lockAndCountUnderWay,
  renewLeases,
} from '../chat/answers/store.ts'
import type { CallRow } from '../chat/answers/store-calls.ts'
import { lockAsSystem } from '../chat/memberships/access.ts'
import type { LockOptions } from '../chat/memberships/store-locks.ts'
import type { MessageRow } from '../chat/messages/store.ts'
import { assertWithinQuotas, reservedFor } from '../chat/metering/asking.ts'
import { notifyAsker } from '../chat/notifications/answered.ts'
import type { Context, Streams } from '../context.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { createUptimeGate } from '../core/scheduling/uptime-gate.ts'
import type { Queries } from '../storage/database.ts'
import type { Assistants } from './assistants.ts'
import { LEASE } from './lease.ts'
import { type TakenRun, takeOver } from './runs/take-over.ts'

/** The interval at which leases are renewed, in milliseconds. */
export const RENEWED_MS = 2_000

/** How many abandoned answers are looked at before this process renews its own leases. */
const AT_ONCE = 32

/**
 * How long a run waits for a conversation that others have locked, and for how many answers. No lease of this process is
 * renewed meanwhile.
 */
const WAIT_MS = 250
const WAITED_FOR = 4

/** When an answer may have ended. */
const LATER = { retry_after_seconds: 2 }

/** Holds the leases of the answers this process writes, and finds answers whose lease has expired. */
export function createLeases(
  ctx: Pick<Context, 'config' | 'db' | 'write' | 'metrics' | 'log' | 'now' | 'id'> &
    Pick<Streams, 'presence'> & { assistants: Assistants },
) {
  const { max_running, max_running_per_user } = ctx.config.assistant
  const writer = newId()
  const isSteady = createUptimeGate({ dead_after_ms: LEASE / 1000, interval_ms: RENEWED_MS })

  async function interrupt(answer: LapsedAnswer, ifLocked: LockOptions): Promise<void> {
    const { message_id, role, posted_by } = answer
    try {
      const isAway = role === 'assistant' && posted_by !== null && !(await ctx.presence.hasStream(posted_by))
      const isEnded = await ctx.write(async (tx) => {
        const at = await lockAsSystem(ctx, tx, answer.conversation_id, ifLocked)
        if (at === undefined || !(await endAnswer(tx, answer, INTERRUPTED, { only: { lapsed: true } }))) return false
        if (isAway) await notifyAsker(ctx, tx, answer, at)
        return true
      })
      if (isEnded) ctx.metrics.answered(INTERRUPTED.status)
    } catch (error) {
      ctx.log.warn('An abandoned answer could not be ended', { message_id, cause: causeText(error) })
    }
  }

  async function take(answer: LapsedAnswer, ifLocked: LockOptions): Promise<TakenRun | 'full' | undefined> {
    const { message_id, posted_by } = answer
    const isIdempotent = (call: CallRow) => ctx.assistants.findTool(call.name)?.idempotent ?? false
    try {
      const isAway = posted_by !== null && !(await ctx.presence.hasStream(posted_by))
      const taken = await takeOver(ctx, answer, {
        writer,
        lease: LEASE,
        max: max_running,
        isIdempotent,
        isAway,
        ifLocked,
      })
      if (taken === 'interrupted') ctx.metrics.answered(INTERRUPTED.status)
      return taken === 'interrupted' ? undefined : taken
    } catch (error) {
      ctx.log.warn('An abandoned answer could not be taken', { message_id, cause: causeText(error) })
      return undefined
    }
  }

  return {
    /** The id of this process in the leases. */
    writer,

    /**
     * Claims an answer for this process; part of the transaction that creates its message, and the last lock it waits
     * for.
     *
     * @throws ChatError `rate_limited` when the user has too many answers in progress, or a quota is used up; `unavailable`
     *   when the service has too many
     */
    async claim(tx: Queries, row: MessageRow, roles: readonly string[]): Promise<void> {
      const { id: message_id, conversation_id, posted_by, created_at: at } = row
      const { all, own, quota } = await lockAndCountUnderWay(tx, posted_by!)
      if (own >= max_running_per_user)
        throw new ChatError('rate_limited', { message: 'Wait for your other answers.', ...LATER })
      if (all >= max_running) throw new ChatError('unavailable', { message: 'The assistant is busy.', ...LATER })
      const wanted = reservedFor(ctx, row.assistant)
      await assertWithinQuotas(tx, ctx.config, { user_id: posted_by!, roles, wanted, at, quota })
      await insertUnderWay(tx, { message_id, conversation_id, writer, reserved: wanted }, LEASE)
    },

    /** Renews the leases of these answers. @returns those that this process has lost */
    async renew(messageIds: string[]): Promise<string[]> {
      if (messageIds.length === 0) return []
      const held = await ctx.write((tx) => renewLeases(tx, writer, messageIds, LEASE))
      return messageIds.filter((id) => !held.has(id))
    },

    /**
     * Ends answers that no process writes any more, except those for which `isWritten` returns true here. After a time
     * without the database the other processes can renew their leases first.
     *
     * @param options.mayTake whether this process takes those that have calls of tools
     * @param options.onTaken goes on with one that it has taken
     */
    async recover(
      isWritten: (messageId: string) => boolean,
      { mayTake, onTaken }: { mayTake: boolean; onTaken: (messageId: string, taken: TakenRun) => Promise<void> },
    ): Promise<void> {
      const steady = isSteady()
      // Without any assistant, none can go on.
      const hasAssistant = ctx.assistants.fallback !== undefined
      const listLeft = async (max: number) =>
        (await listLapsed(ctx.db, max)).filter(
          ({ message_id, is_free }) => !isWritten(message_id) && (steady || is_free),
        )

      /** @returns whether there is room for more */
      async function end(answer: LapsedAnswer, ifLocked: LockOptions): Promise<boolean> {
        if (!answer.has_run || !hasAssistant) await interrupt(answer, ifLocked)
        else if (mayTake) {
          const taken = await take(answer, ifLocked)
          if (taken === 'full') return false
          if (taken) await onTaken(answer.message_id, taken)
        }
        return true
      }

      const lapsed = await listLeft(AT_ONCE)
      for (const answer of lapsed) if (!(await end(answer, { unlessLocked: true }))) return
      // Where many write, the conversation is locked whenever one looks: one has to wait in line.
      const busy = lapsed.length > 0 && ctx.db.dialect === 'postgresql' ? await listLeft(WAITED_FOR) : []
      for (const answer of busy) if (!(await end(answer, { wait_ms: WAIT_MS }))) return
    },
  }
}
