import { refuseSystem } from '../../core/actor.ts'
import { useCase } from '../../core/use-case.ts'
import { addSeen, countThread } from '../../storage/unread-counts.ts'
import { lockMembership } from '../memberships/access.ts'
import { endScope } from '../notifications/scopes.ts'
import { publishFollowed } from './publishing.ts'
import { findFollowing, setFollowed } from './store-follows.ts'
import { listThreadsFor } from './store-listing.ts'

/**
 * Lets the actor follow a thread from now on. An actor who follows it keeps the earlier time.
 *
 * @throws ChatError `not_found`; `forbidden` for a system actor
 */
export const follow = useCase({
  takes: ['actor', 'root_id'],
  errors: ['not_found'],
  run: async (ctx, actor, rootId): Promise<void> => {
    refuseSystem(actor)
    await ctx.write(async (tx) => {
      const { conversation_id, clock } = await lockMembership(ctx, tx, actor, { root_id: rootId })
      const reader = { user_id: actor.user_id, conversation_id }
      if ((await findFollowing(tx, reader, rootId)).following) return
      const at = Math.max(ctx.now(), clock + 1)
      tx.advanceClock(conversation_id, at)
      await setFollowed(tx, rootId, actor.user_id, at)
      await listThreadsFor(tx, [{ root_id: rootId, user_id: actor.user_id }])
      await publishFollowed(tx, reader, rootId, true)
    })
  },
})

/**
 * Ends that the actor follows a thread, until a later reply of the actor. A mention then only notifies. The notification of
 * the thread is read.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link follow}
 */
export const unfollow = useCase({
  takes: ['actor', 'root_id'],
  errors: ['not_found'],
  run: async (ctx, actor, rootId): Promise<void> => {
    refuseSystem(actor)
    await ctx.write(async (tx) => {
      const { conversation_id, clock } = await lockMembership(ctx, tx, actor, { root_id: rootId })
      const reader = { user_id: actor.user_id, conversation_id }
      const { following, refused } = await findFollowing(tx, reader, rootId)
      if (refused) return
      const at = Math.max(ctx.now(), clock + 1)
      tx.advanceClock(conversation_id, at)
      const { followed } = await countThread(tx, reader, rootId)
      await setFollowed(tx, rootId, actor.user_id, -at)
      if (followed > 0) await addSeen(tx, reader, { followed })
      await listThreadsFor(tx, [{ root_id: rootId, user_id: actor.user_id }])
      if (!following) return
      await endScope(tx, reader, rootId, ctx.now())
      await publishFollowed(tx, reader, rootId, false)
    })
  },
})
