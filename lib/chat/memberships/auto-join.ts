import type { Accounts, Context } from '../../context.ts'
import { splitRoles } from '../../core/actor.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { inBatches } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { lockAsSystem } from './access.ts'
import { join } from './join.ts'
import { assertJoinsAutomatically, joinsByItself } from './rules-auto-join.ts'
import { countAutoJoin, listAutoJoin, lockAutoJoin, lockCandidates } from './store-auto-join.ts'
import { findConversation } from './store-conversations.ts'

/**
 * Lets the present users join a conversation that is about to get automatic joins, or whose freeze ends.
 *
 * @throws ChatError `conflict` beyond the maximum, and for a conversation of two
 */
export async function beginAutoJoin(tx: Tx, { id, is_group }: { id: string; is_group: number }): Promise<void> {
  await lockAutoJoin(tx)
  assertJoinsAutomatically({ is_group }, await countAutoJoin(tx, id))
  tx.enqueue({ kind: 'participants.join', key: id })
}

/** Makes new accounts participants of the conversations that they join by themselves, in the transaction that creates them. */
export function createAutoJoin(ctx: Pick<Context, 'now'>): Accounts['joinRooms'] {
  return async (tx, user, ip) => {
    for (const { id, auto_join } of await listAutoJoin(tx)) {
      if (!joinsByItself(auto_join, splitRoles(user.roles))) continue
      const at = await lockAsSystem(ctx, tx, id)
      // It may have been frozen, or deleted, until it was locked.
      if (at === undefined || !(await isJoined(tx, id))) continue
      await join(tx, id, { user, role: 'member', at, by: { actor_id: user.id, ip } })
    }
  }
}

async function isJoined(tx: Tx, id: string): Promise<boolean> {
  const room = await findConversation(tx, id)
  return room !== undefined && room.auto_join !== null && room.frozen_at === null
}

/** Where the task has got to: nothing of the rest is left, or the id of the last user of a page. */
type Page = { after: string } | undefined

/**
 * Makes the present users participants of a conversation with automatic joins, but those who were: leaving is final. It
 * continues where it was interrupted, and ends when the conversation is frozen, deleted or joined no longer.
 */
export async function joinPresent(ctx: Context, { key, detail, isOver }: TaskRun): Promise<TaskOutcome> {
  let after = String(detail.after ?? '')
  const isDone = await inBatches(isOver, async (size) => {
    const began = performance.now()
    const page = await ctx.write((tx) => joinPage(ctx, tx, key, { after, size }))
    if (!page) return undefined
    after = page.after
    return performance.now() - began
  })
  return isDone ? { done: true } : { done: false, detail: { after } }
}

async function joinPage(
  ctx: Context,
  tx: Tx,
  id: string,
  { after, size }: { after: string; size: number },
): Promise<Page> {
  const start = await lockAsSystem(ctx, tx, id)
  const room = start === undefined ? undefined : await findConversation(tx, id)
  if (start === undefined || !room || room.auto_join === null || room.frozen_at !== null) return undefined
  const users = await lockCandidates(tx, id, after, size)
  const { auto_join } = room
  const joining = users.filter(({ roles, has_joined }) => !has_joined && joinsByItself(auto_join, splitRoles(roles)))
  for (const [n, user] of joining.entries())
    await join(tx, id, { user, role: 'member', at: start + n, by: { actor_id: user.id } })
  tx.advanceClock(id, start + joining.length)
  const last = users.at(-1)
  return last && { after: last.id }
}
