import { me } from '../../accounts/sessions/service.ts'
import { refuseSystem } from '../../core/actor.ts'
import { MAX_PAGE_BYTES } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import * as conversations from '../conversations/service.ts'
import * as threads from '../threads/service.ts'
import * as timeline from '../timeline/service.ts'
import { type Snapshot, SnapshotInput } from './schema.ts'

/** As many messages of a tree as the store reads at once. */
const TREE_LIMIT = 200

/**
 * What a page of the actor shows first, for `createChatStore(client, { initial })`: the conversations, and the messages and
 * threads of the one that is shown. It is JSON of at most 1 MiB; a part that does not fit is left out.
 *
 * @throws ChatError `not_found` for a conversation or a thread that the actor cannot read; `forbidden` for a system actor
 */
export const create = useCase({
  takes: ['actor'],
  input: SnapshotInput,
  errors: ['forbidden', 'not_found'],
  run: async (ctx, actor, { conversation_id, root_id }): Promise<Snapshot> => {
    refuseSystem(actor)
    const snapshot: Snapshot = { user: (await me.run(ctx, actor)).user }
    let left = MAX_PAGE_BYTES - Buffer.byteLength(JSON.stringify(snapshot))
    /** What the page shows first comes first. */
    const add = async <Name extends keyof Snapshot>(name: Name, reading: Promise<Snapshot[Name]>): Promise<void> => {
      const part = await reading
      const size = Buffer.byteLength(`,"${name}":${JSON.stringify(part)}`)
      if (size > left) return
      left -= size
      snapshot[name] = part
    }
    const limit = 50
    if (root_id !== undefined) {
      await add('replies', timeline.replies.run(ctx, actor, root_id, { limit }))
      await add('tree', threads.tree.run(ctx, actor, root_id, { limit: TREE_LIMIT }))
    }
    if (conversation_id !== undefined) {
      await add('messages', timeline.list.run(ctx, actor, conversation_id, { view: 'roots', limit }))
      const page = threads.list.run(ctx, actor, conversation_id, { limit })
      await add(
        'threads',
        page.then((read) => ({ conversation_id, ...read })),
      )
    }
    await add('conversations', conversations.list.run(ctx, actor, { archived: 'false', limit }))
    return snapshot
  },
})
