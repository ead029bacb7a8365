import type { Context } from '../context.ts'
import { lockConversation } from '../conversations/store.ts'
import type { Tx } from '../events/write.ts'
import type { Micros } from '../storage/sql.ts'
import { forgetMember, reassignLive, recount } from '../threads/store.ts'
import { disown, listPathsAfter, type MessageTrace, markDeleted, wipe } from './store.ts'

/** How many messages of a thread one transaction looks at: others wait for it. */
const PAGE = 200

/** A thread somebody has written or read in. */
export interface TracedThread {
  root_id: string
  conversation_id: string
}

/**
 * Takes somebody out of a thread: their marks, and their name from what they wrote. Its text stays, or with `erase` is
 * nowhere any more; then the conversation is told of each message that was there.
 */
export async function eraseTraces(
  ctx: Context,
  thread: TracedThread,
  userId: string,
  messages: 'keep' | 'erase',
): Promise<void> {
  let after: string | undefined = ''
  while (after !== undefined) {
    const from: string = after
    after = await ctx.write(async (tx) => {
      const clock = await lockConversation(tx, thread.conversation_id)
      if (clock === undefined) return undefined
      const page = await listPathsAfter(tx, thread.root_id, from, PAGE)
      const theirs = page.filter((message) => message.posted_by === userId)
      if (messages === 'erase') await eraseAll(tx, thread, userId, theirs, Math.max(ctx.now(), clock + 1))
      else await disownAll(tx, thread, userId, theirs)
      if (page.length === PAGE) return page.at(-1)!.path
      await forgetMember(tx, thread.root_id, userId)
      return undefined
    })
  }
}

async function disownAll(tx: Tx, { root_id }: TracedThread, userId: string, theirs: MessageTrace[]): Promise<void> {
  if (theirs.length === 0) return
  const live = theirs.filter((message) => message.deleted_at === null).length
  if (live > 0) await reassignLive(tx, root_id, userId, live)
  await disown(tx, theirs)
}

async function eraseAll(
  tx: Tx,
  { conversation_id }: TracedThread,
  userId: string,
  theirs: MessageTrace[],
  at: Micros,
): Promise<void> {
  for (const message of theirs) {
    if (message.deleted_at !== null) continue
    tx.stamp(conversation_id, at)
    await markDeleted(tx, message.id, { at, by: userId })
    await recount(tx, message, -1)
    tx.emit(conversation_id, { type: 'message.deleted', message_id: message.id })
  }
  if (theirs.length > 0) await wipe(tx, theirs)
}
