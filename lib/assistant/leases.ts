import { endAnswer, INTERRUPTED } from '../chat/answers/ending.ts'
import { insertUnderWay, listLapsed, lockAndCountUnderWay, renewLeases } from '../chat/answers/store.ts'
import { lockAsSystem } from '../chat/conversations/access.ts'
import type { MessageRow } from '../chat/messages/store.ts'
import type { Context } from '../context.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { SECOND } from '../core/time.ts'
import type { Queries } from '../storage/database.ts'

/** Who writes an answer and is not heard of for so long is taken for dead. */
const LEASE = 10 * SECOND

/** When an answer may have ended. */
const LATER = { retry_after_seconds: 2 }

/** What this process says of the answers it writes, and looks for of those that others have left. */
export function createLeases(ctx: Pick<Context, 'config' | 'db' | 'write' | 'metrics' | 'log' | 'now'>) {
  const { max_running, max_running_per_user } = ctx.config.assistant
  const writer = newId()

  /** One that is being changed at this moment is left to the next look. */
  async function interrupt(answer: { message_id: string; conversation_id: string }): Promise<void> {
    const { message_id } = answer
    try {
      const isEnded = await ctx.write(async (tx) => {
        const at = await lockAsSystem(ctx, tx, answer.conversation_id, { unlessLocked: true })
        return at !== undefined && endAnswer(tx, answer, INTERRUPTED, { only: { lapsed: true } })
      })
      if (isEnded) ctx.metrics.answered(INTERRUPTED.status)
    } catch (error) {
      ctx.log.warn('An answer that was left could not be ended', { message_id, cause: causeText(error) })
    }
  }

  return {
    /** The name of this process in the leases. */
    writer,

    /**
     * Has an answer be this process's to write; part of the transaction that makes its message, and its last wait for
     * others.
     *
     * @throws ChatError `rate_limited` when the user has as many under way as may be, `unavailable` when all have
     */
    async claim(tx: Queries, { id: message_id, conversation_id, posted_by }: MessageRow): Promise<void> {
      const { all, own } = await lockAndCountUnderWay(tx, posted_by!)
      if (own >= max_running_per_user)
        throw new ChatError('rate_limited', { message: 'Wait for your other answers.', ...LATER })
      if (all >= max_running) throw new ChatError('unavailable', { message: 'The assistant is busy.', ...LATER })
      await insertUnderWay(tx, { message_id, conversation_id, writer }, LEASE)
    },

    /** Says that this process lives and writes these. @returns those that are not its to write any more */
    async renew(messageIds: string[]): Promise<string[]> {
      if (messageIds.length === 0) return []
      const held = await ctx.write((tx) => renewLeases(tx, writer, messageIds, LEASE))
      return messageIds.filter((id) => !held.has(id))
    },

    /** Ends the answers that nobody writes any more, `isWritten` here among them. */
    async recover(isWritten: (messageId: string) => boolean): Promise<void> {
      for (const answer of await listLapsed(ctx.db)) if (!isWritten(answer.message_id)) await interrupt(answer)
    },
  }
}
