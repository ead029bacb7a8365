import type { Context } from '../../context.ts'
import type { ErasedAuthor } from '../../erasure/store.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { TaskDetail } from '../../tasks/schema.ts'
import { eraseFiles } from '../attachments/erasure.ts'
import { forgetUploader } from '../attachments/store-releasing.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { refreshScopes } from '../notifications/scopes.ts'
import { removeActor, removeOfMessages } from '../notifications/store-removing.ts'
import { listThreads } from '../unread/store-listing.ts'
import { anonymize, listPathsAfter, type MessageTrace, redact } from './store-erasing.ts'
import { relistRepliers } from './store-replies.ts'
import { countOut, forgetMember, listTraces, reassignLive } from './store-threads.ts'

/** The number of threads that one query searches for messages and marks of the user. */
const THREADS_PAGE = 1_000

/** The number of threads that one transaction changes: on PostgreSQL it locks their conversations. */
const THREADS_BATCH = 20

/** What a message that mentions all participants costs of a batch, in messages: each of them has a notification. */
const TO_ALL = 50

/** A thread in which the user has written or read. */
interface TracedThread {
  root_id: string
  conversation_id: string
}

/** How far a run has come: after the threads up to `after_root`, and up to `path` in the thread `root`. */
interface Progress {
  after_root: string
  root: string
  path: string
  removed: number
}

/** The end of a batch: the number of finished threads, and the path at which it stopped in the next one. */
interface BatchEnd {
  threads: number
  path: string
  messages: number
  ms: number
}

/**
 * Removes an erased author from all threads, in batches: deletes the author's marks, and the author of each message.
 * With `messages: 'erase'` it also removes the texts, and publishes an event for each message.
 *
 * @param from the progress of an earlier run
 */
export function createAuthorEraser(ctx: Context, author: ErasedAuthor, from: TaskDetail) {
  const progress = { after_root: '', root: '', path: '', removed: 0, ...(from as Partial<Progress>) }
  let page: { traces: TracedThread[]; last?: string } = { traces: [], last: progress.after_root }

  async function loadPage(): Promise<number> {
    const began = performance.now()
    page = await listTraces(ctx.db, author.user_id, progress.after_root, THREADS_PAGE)
    if (page.traces.length === 0) progress.after_root = page.last ?? progress.after_root
    return performance.now() - began
  }

  return {
    /** Runs the next batch, for {@link inBatches}. */
    async next(size: number): Promise<number | undefined> {
      const { traces, last } = page
      if (traces.length === 0) return last === undefined ? undefined : loadPage()
      const threads = traces.slice(0, THREADS_BATCH)
      // The thread in which an earlier run stopped may have been deleted since.
      const path = threads[0]!.root_id === progress.root ? progress.path : ''
      const end = await ctx.write((tx) => eraseIn(ctx, tx, author, { threads, path, size }))
      const done = traces.splice(0, end.threads)
      progress.removed += end.messages
      progress.after_root = (traces.length === 0 ? last : done.at(-1)?.root_id) ?? progress.after_root
      progress.root = traces[0]?.root_id ?? ''
      progress.path = end.path
      return end.ms
    },
    progress: (): TaskDetail => ({ ...progress }),
  }
}

/** Processes up to `size` messages of these threads, starting after a path in the first one. */
async function eraseIn(
  ctx: Context,
  tx: Tx,
  author: ErasedAuthor,
  { threads, path, size }: { threads: TracedThread[]; path: string; size: number },
): Promise<BatchEnd> {
  const began = performance.now()
  const clocks = await lockAll(tx, new Set(threads.map((thread) => thread.conversation_id)))
  const at = Math.max(ctx.now(), ...[...clocks.values()].map((clock) => clock + 1))
  const theirs: MessageTrace[] = []
  const removed = new Map<string, number>()
  const end = { threads: 0, path }
  for (let left = size; end.threads < threads.length && left > 0; ) {
    const thread = threads[end.threads]!
    const isDeleted = !clocks.has(thread.conversation_id)
    const next = isDeleted ? [] : await listPathsAfter(tx, thread.root_id, end.path, left)
    const page = fitting(next, author, left)
    const traces = page.filter((message) => message.posted_by === author.user_id)
    await count(tx, thread, author, traces, at)
    theirs.push(...traces)
    const live = traces.filter(({ deleted_at }) => deleted_at === null).length
    removed.set(thread.conversation_id, (removed.get(thread.conversation_id) ?? 0) + live)
    const isWhole = page.length === next.length && next.length < left
    left -= page.reduce((sum, message) => sum + costOf(message, author), 0) || 1
    if (isWhole) {
      if (!isDeleted) await forgetMember(tx, thread.root_id, author.user_id)
      end.threads++
    }
    end.path = isWhole ? '' : page.at(-1)!.path
  }
  if (theirs.length > 0) {
    const theirIds = theirs.map(({ id }) => id)
    await (author.messages === 'erase' ? redact(tx, theirs, at) : anonymize(tx, theirs))
    if (author.messages === 'erase') {
      const rootIds = threads.slice(0, end.threads + 1).map(({ root_id }) => root_id)
      await listThreads(tx, rootIds)
    }
    await (author.messages === 'erase' ? eraseFiles(tx, theirIds) : forgetUploader(tx, theirIds))
    // The index has the author as a word.
    ctx.search.noteMessages(tx, theirIds)
    await (author.messages === 'erase' ? removeOfMessages(tx, theirIds) : removeActor(tx, theirIds))
    if (author.messages === 'erase')
      for (const id of clocks.keys()) {
        const ids = threads.flatMap(({ conversation_id, root_id }) => (conversation_id === id ? root_id : []))
        tx.publishCounts(await refreshScopes(tx, id, ids, -(removed.get(id) ?? 0)))
      }
  }
  return { ...end, messages: theirs.length, ms: performance.now() - began }
}

/** The first of these messages, and the following ones that fit into the batch. */
function fitting(messages: MessageTrace[], author: ErasedAuthor, left: number): MessageTrace[] {
  let cost = 0
  const end = messages.findIndex((message) => {
    cost += costOf(message, author)
    return cost > left
  })
  return end < 0 ? messages : messages.slice(0, Math.max(1, end))
}

/** What a message costs of a batch: where its text is erased, so are its notifications. */
function costOf({ posted_by, mention_all }: MessageTrace, { user_id, messages }: ErasedAuthor): number {
  return messages === 'erase' && posted_by === user_id && mention_all === 1 ? TO_ALL : 1
}

/** Locks conversations in the order of ids, so that two calls cannot deadlock. @returns the clocks of existing ones */
async function lockAll(tx: Tx, conversationIds: Set<string>): Promise<Map<string, Micros>> {
  const clocks = new Map<string, Micros>()
  for (const id of [...conversationIds].sort()) {
    const clock = await lockConversation(tx, id)
    if (clock !== undefined) clocks.set(id, clock)
  }
  return clocks
}

/** Updates the counts of erased or anonymized messages, and publishes the events. */
async function count(
  tx: Tx,
  { root_id, conversation_id }: TracedThread,
  { user_id, messages }: ErasedAuthor,
  traces: MessageTrace[],
  at: Micros,
): Promise<void> {
  const live = traces.filter((message) => message.deleted_at === null)
  if (live.length === 0) return
  if (messages === 'keep') await reassignLive(tx, root_id, user_id, live.length)
  else await countOut(tx, { root_id, conversation_id }, user_id, live)
  await relistRepliers(tx, root_id, { removed: { user_id } })
  // Also without an event: an answer that goes on must not get the author again.
  tx.advanceClock(conversation_id, at)
  if (messages === 'keep') return
  const roots = live.filter(({ id }) => id === root_id).length
  tx.countMessages(conversation_id, { messages: -live.length, roots: -roots })
  for (const message of live) tx.emit(conversation_id, { type: 'message.deleted', message_id: message.id })
}
