import type { Tx } from '../../live/transaction.ts'
import { lookUpMentions } from '../mentions/lookup.ts'
import { decideMentions, type KnownParticipants, type Mentioned, wantedOf } from '../mentions/rules.ts'
import { insertMentions, type MentionRow } from '../mentions/store.ts'
import { createNotificationBatch } from '../notifications/batch.ts'
import { makeDirect, makeForAll, makePersonal } from '../notifications/store-making.ts'
import type { NewPost, PostContext, Posted } from './batch.ts'
import type { LockedTarget, Parent, Target } from './store-posts.ts'

/** Decides which users each post of a batch mentions and notifies. A post that concerns none costs no statement. */
export function createMentioning(ctx: PostContext, posts: readonly NewPost[]) {
  const wanted = posts.map(({ input }) => wantedOf(input))
  const mentions: MentionRow[] = []
  const { default_level } = ctx.config.notifications
  const notifications = createNotificationBatch({ id: ctx.id, default_level })
  let known: Map<number, KnownParticipants>

  return {
    /** Looks up who participates. */
    async load(tx: Tx, targets: Target[]): Promise<void> {
      const these = targets.flatMap((target) => (wanted[target.n] ? { ...target, wanted: wanted[target.n]! } : []))
      known = await lookUpMentions(tx, these)
    },

    /** @throws ChatError `forbidden`, `conflict` as {@link decideMentions} */
    decide({ n, role, is_direct, policy }: LockedTarget, { actor: { user_id } }: NewPost): Mentioned | undefined {
      return (
        wanted[n] && decideMentions(wanted[n], known.get(n)!, { user_id, role, is_direct, policy }, ctx.config.limits)
      )
    },

    /** Adds a stored post. */
    add({ row }: Posted, { is_direct }: LockedTarget, parent: Parent | undefined): void {
      const { id, conversation_id, root_id, created_at: at, posted_by } = row
      const user_ids = row.mentioned?.split(',') ?? []
      for (const user_id of user_ids) mentions.push({ message_id: id, user_id })
      const mentioned = row.mention_all === null ? undefined : { user_ids, all: row.mention_all === 1 }
      const message = { id, conversation_id, root_id, at, is_direct, author: posted_by!, mentioned }
      notifications.add({ ...message, replies_to: parent?.posted_by ?? null })
    },

    /** Stores the mentions and notifications of the added posts, after their messages. */
    store(tx: Tx): void {
      const { personal, all, direct } = notifications.list()
      if (mentions.length > 0) tx.defer(insertMentions(tx, mentions))
      if (personal.length > 0) tx.notify(makePersonal(tx, personal))
      if (all.length > 0) tx.notify(makeForAll(tx, all))
      if (direct.length > 0) tx.notify(makeDirect(tx, direct))
    },
  }
}
