import { assertMay } from '../../core/access.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { lockWithRight, refuseClosed } from '../memberships/access.ts'
import { findMessage } from '../messages/store.ts'
import { TitleChange } from './schema.ts'
import { setTitle as storeTitle } from './store.ts'

/**
 * Changes the title of a thread and publishes an event; an empty title removes it. It is no activity, and notifies no user.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user, and unless the actor wrote the root, asked
 *   for it, or is owner or admin of the conversation; `message_deleted` for a deleted root; `conflict` in a direct
 *   conversation whose other person has no active account
 */
export const setTitle = useCase({
  takes: ['actor', 'root_id'],
  input: TitleChange,
  errors: ['not_found', 'forbidden', 'message_deleted', 'conflict'],
  run: (ctx, actor, rootId, { title }): Promise<void> =>
    ctx.write(
      async (tx) => {
        const place = await lockWithRight(ctx, tx, actor, { root_id: rootId }, 'post')
        const root = (await findMessage(tx, rootId))!
        if (root.posted_by !== actor.user_id) assertMay(ctx.access, { ...place, actor }, 'policy')
        if (root.deleted_at) throw new ChatError('message_deleted')
        await refuseClosed(tx, place, actor)
        if (await storeTitle(tx, rootId, title || null))
          tx.emit(place.conversation_id, { type: 'thread.updated', message_id: rootId })
      },
      { full_disk: 'refused' },
    ),
})
