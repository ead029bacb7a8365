import { ChatError } from '../../core/errors.ts'
import { type InvocationRow, listAnswerable, setAnswered } from '../commands/store.ts'
import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'

/** Notes the calls of commands that posts of their programs answer; `undefined` without any. */
export function createAnswering(ctx: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  const ids = new Set(posts.flatMap(({ input }) => input.invocation_id ?? []))
  if (ids.size === 0) return undefined
  let calls: InvocationRow[] = []
  const answers: { id: string; user_id: string; name: string }[] = []
  return {
    async load(tx) {
      calls = await listAnswerable(tx, ids, ctx.now())
    },

    /** @throws ChatError `not_found` for a call of another program or conversation, and for one that is too old */
    decide({ actor, input: { invocation_id } }, { target: { conversation_id } }) {
      if (invocation_id === undefined) return undefined
      const call = calls.find(({ id }) => id === invocation_id)
      if (call?.bot_id !== actor.user_id || call.conversation_id !== conversation_id) throw new ChatError('not_found')
      return { invoked_by: call.user_id, invoked_name: call.name }
    },

    add({ id, invoked_by, invoked_name }) {
      if (invoked_by) answers.push({ id, user_id: invoked_by, name: invoked_name! })
    },

    store: (tx) => setAnswered.run(tx, answers),
  }
}
