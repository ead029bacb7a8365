import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { levelOf, type ParticipantSettings } from '../memberships/rules-settings.ts'
import { notifyInPages } from './all.ts'
import type { ToNotify } from './store-all.ts'
import { findReply, insertOfThreadSilently, listConcerned, type NotifyingReply } from './store-followers.ts'
import { type Follower, listFollowers, listMembers, MAX_IN_POST, moveOfThreads } from './store-moving.ts'

/** A reply of a thread, and the users that it does not concern as followers: its author, and those with a reason of their own. */
interface Reply {
  id: string
  conversation_id: string
  root_id: string
  at: Micros
  except: ReadonlySet<string>
}

/**
 * Notifies the followers of the threads of a batch of posts: each of the latest reply that concerns them. A batch without
 * replies costs nothing.
 */
export function createFollowerBatch({ config, id }: Pick<Context, 'config' | 'id'>) {
  const threads = new Map<string, Reply[]>()
  let followers: Follower[] = []
  /** Whether users have begun to follow a thread of the batch by one of its posts; `outdated` once a reply came after it. */
  let state: 'read' | 'changed' | 'outdated' = 'read'

  return {
    /** Reads the followers of the threads of messages; their conversations are locked. */
    async load(tx: Tx, parentIds: readonly string[]): Promise<void> {
      if (parentIds.length > 0) followers = await listFollowers(tx, parentIds)
    },

    /** @param others those that the message notifies for another reason */
    add(
      { id, conversation_id, root_id, at, author }: Omit<Reply, 'except'> & { author: string },
      others: readonly Pick<ParticipantSettings, 'user_id'>[],
    ): void {
      const except = new Set([author, ...others.map(({ user_id }) => user_id)])
      const earlier = threads.get(root_id)
      const reply = { id, conversation_id, root_id, at, except }
      if (earlier) earlier.unshift(reply)
      else threads.set(root_id, [reply])
      if (state === 'changed') state = 'outdated'
    },

    /** A post lets users follow a thread: those after it concern them, too. */
    noteFollowing(): void {
      if (state === 'read') state = 'changed'
    },

    /** The messages and who follows their threads are stored. */
    async store(tx: Tx): Promise<void> {
      if (state === 'outdated') followers = await listFollowers(tx, [...threads.keys()])
      if (followers.length === 0) return
      const rows = [...threads].flatMap(([root_id, replies]) => {
        if (followers.filter((follower) => follower.root_id === root_id).length > MAX_IN_POST) {
          for (const { id: key, conversation_id } of replies)
            tx.enqueue({ kind: 'thread.notify', key, detail: { conversation_id } })
          return []
        }
        const ids = new Map(replies.map((reply) => [reply.id, id()]))
        return followers.flatMap((follower) => {
          const reply = follower.root_id === root_id ? replyFor(follower, replies) : undefined
          if (!reply || levelOf({ ...follower, is_direct: 0 }, config.notifications.default_level) === 'none') return []
          const { user_id, level, muted_until, archived } = follower
          const { conversation_id, at } = reply
          const settings = { user_id, level, muted_until, archived }
          return { id: ids.get(reply.id)!, user_id, at, conversation_id, root_id, message_id: reply.id, settings }
        })
      })
      if (rows.length > 0) tx.notify(moveOfThreads(tx, rows))
    },
  }
}

/** Notifies the followers of the thread of a reply: silently those who have read it by then, and all if it is deleted. */
export function notifyFollowers(ctx: Context, run: TaskRun): Promise<TaskOutcome> {
  return notifyInPages(ctx, run, async (tx, page) => {
    const reply = await findReply(tx, run.key)
    if (!reply) return []
    const ids = await listMembers(tx, reply.root_id, page)
    const users = (await listConcerned(tx, reply, ids)).filter(
      (user) => levelOf({ ...user, is_direct: 0 }, ctx.config.notifications.default_level) !== 'none',
    )
    await notify(ctx, tx, reply, users)
    return ids
  })
}

/** As if the reply had notified them when it arrived. */
async function notify(ctx: Context, tx: Tx, reply: NotifyingReply, users: readonly ToNotify[]): Promise<void> {
  const { id: message_id, root_id, conversation_id, created_at: at, deleted_at } = reply
  const id = ctx.id()
  for (const has_read of [0, 1]) {
    const those = users.filter((user) => user.has_read === has_read)
    if (those.length === 0) continue
    if (has_read === 0 && deleted_at === null) {
      const rows = those.map((settings) => {
        const { user_id } = settings
        return { id, user_id, at, conversation_id, root_id, message_id, settings }
      })
      tx.notify(moveOfThreads(tx, rows))
    } else {
      const silent = { id, read_at: has_read === 1 ? ctx.now() : null }
      await insertOfThreadSilently(
        tx,
        reply,
        silent,
        those.map(({ user_id }) => user_id),
      )
    }
  }
}

/** The latest reply that concerns a follower. */
const replyFor = ({ user_id, since }: Follower, replies: readonly Reply[]) =>
  replies.find(({ at, except }) => since <= at && !except.has(user_id))
