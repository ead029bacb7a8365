import { me } from '../../accounts/sessions/service.ts'
import { refuseSystem } from '../../core/actor.ts'
import { MAX_PAGE_BYTES } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import * as conversations from '../conversations/service.ts'
import * as threads from '../threads/service.ts'
import * as timeline from '../timeline/service.ts'
import { type Snapshot, SnapshotInput } from './schema.ts'

/** As many entries of a list, and messages of a tree, as the store reads at once. */
const LIMIT = 50
const TREE_LIMIT = 200

/**
 * What a page of the actor shows first, for `createChatStore(client, { initial })`: the conversations, and the messages and
 * threads of the one that is shown. It is JSON of at most 1 MiB: a page that does not fit has fewer entries, or is left out.
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
    /** Reads a page, with half as many entries until it fits. What is shown first comes first. */
    const add = async <Name extends keyof Snapshot>(
      name: Name,
      read: (limit: number) => Promise<NonNullable<Snapshot[Name]>>,
      most = LIMIT,
    ): Promise<void> => {
      for (let limit = most; limit >= 1; limit = Math.floor(limit / 2)) {
        const part = await read(limit)
        const size = Buffer.byteLength(`,"${name}":${JSON.stringify(part)}`)
        if (size > left) continue
        left -= size
        snapshot[name] = part
        return
      }
    }
    if (root_id !== undefined) await add('replies', (limit) => timeline.replies.run(ctx, actor, root_id, { limit }))
    if (conversation_id !== undefined)
      await add('messages', (limit) => timeline.list.run(ctx, actor, conversation_id, { view: 'roots', limit }))
    await add('conversations', (limit) => conversations.list.run(ctx, actor, { archived: 'false', limit }))
    if (conversation_id !== undefined)
      await add('threads', async (limit) => ({
        conversation_id,
        ...(await threads.list.run(ctx, actor, conversation_id, { limit })),
      }))
    if (root_id !== undefined)
      await add('tree', (limit) => threads.tree.run(ctx, actor, root_id, { limit }), TREE_LIMIT)
    return snapshot
  },
})
