import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { levelOf } from '../memberships/rules-settings.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { findMessageToAll, insertSilently, listToNotify, type MessageToAll, type ToNotify } from './store-all.ts'
import { makeNotifications } from './store-making.ts'

/**
 * The participants that a message notifies in its own transaction. More of them would hold up other posts: on SQLite each
 * inbox is another page of the file.
 */
const MAX_IN_POST = 100

/** The participants that one transaction of the task notifies: on PostgreSQL it takes several round trips. */
const BATCH = { sqlite: 100, postgresql: 250 }

/** Whether a message that mentions all participants notifies them by a task. */
export function isForTask(participants: number): boolean {
  return participants > MAX_IN_POST
}

/**
 * Notifies all participants of a message that mentions them, soon after the transaction, except those that the message
 * notifies already.
 *
 * @param at the time of the notifications
 */
export function notifyAllLater(
  tx: Tx,
  { id, conversation_id }: Pick<MessageToAll, 'id' | 'conversation_id'>,
  at: Micros,
): void {
  tx.enqueue({ kind: 'message.notify', key: id, detail: { conversation_id, at } })
}

/** Notifies the participants of a message, as long as it mentions all. */
export function notifyAll(ctx: Context, run: TaskRun): Promise<TaskOutcome> {
  const { at } = run.detail as { at: number }
  return notifyInPages(ctx, run, async (tx, page) => {
    const message = await findMessageToAll(tx, run.key)
    const users = message ? await listToNotify(tx, message, { ...page, at }) : []
    if (users.length > 0) await notify(ctx, tx, message!, at, users)
    return users.map(({ user_id }) => user_id)
  })
}

/**
 * Notifies users of the conversation of a task, some in each transaction.
 *
 * @param notify notifies up to `limit` users with ids after `after`, in the order of their ids; @returns these
 */
export async function notifyInPages(
  ctx: Context,
  { detail, isOver }: TaskRun,
  notify: (tx: Tx, page: { after: string; limit: number }) => Promise<string[]>,
): Promise<TaskOutcome> {
  const { conversation_id } = detail as { conversation_id: string }
  let { after = '' } = detail as { after?: string }
  const limit = BATCH[ctx.db.dialect]
  while (!isOver()) {
    const { ids, ms } = await ctx.write(async (tx) => {
      const began = performance.now()
      const isThere = (await lockConversation(tx, conversation_id)) !== undefined
      const ids = isThere ? await notify(tx, { after, limit }) : []
      return { ids, ms: performance.now() - began }
    })
    if (ids.length < limit) return { done: true }
    after = ids.at(-1)!
    // Other posts to the conversation get half of the time.
    await sleep(Math.max(1, ms))
  }
  return { done: false, detail: { ...detail, after } }
}

/** As if the message had notified them when it arrived. */
async function notify(ctx: Context, tx: Tx, message: MessageToAll, at: Micros, users: ToNotify[]): Promise<void> {
  const { id, conversation_id, root_id, posted_by, created_at, deleted_at, is_direct } = message
  const level = levelOf({ level: null, is_direct }, ctx.config.notifications.default_level)
  const wanting = users.filter((user) => (user.level ?? level) !== 'none')
  // Before an edit, the thread may already have been read up to the message.
  const hasRead = ({ has_read }: ToNotify) => has_read === 1 && at === created_at
  const silent = wanting.filter((user) => deleted_at !== null || hasRead(user))
  const others = wanting.filter((user) => deleted_at === null && !hasRead(user))
  for (const read of [true, false]) {
    const ids = silent.flatMap((user) => (hasRead(user) === read ? user.user_id : []))
    const state = { read_at: read ? ctx.now() : null, hidden: deleted_at === null ? 0 : 1 } as const
    if (ids.length > 0) await insertSilently(tx, { id, at, ...state }, ids)
  }
  if (others.length === 0) return
  const row = { id, at, conversation_id, root_id, message_id: id, actor_user_id: posted_by }
  tx.notify(makeNotifications(tx, [{ ...row, kind: 'mention_all', users: others }]))
}
