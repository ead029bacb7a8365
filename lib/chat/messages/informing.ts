import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import { setContext } from './store-changes.ts'

/** Keeps what questions came with, for the assistant; `undefined` without any. */
export function createInforming(_: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  if (!posts.some(({ context }) => context?.length)) return undefined
  const contexts: { id: string; context: string }[] = []
  return {
    load: async () => undefined,
    decide: () => undefined,
    add({ id, role }, { context }) {
      if (context?.length && role === 'assistant') contexts.push({ id, context: JSON.stringify(context) })
    },
    store: (tx) => setContext.run(tx, contexts),
  }
}
