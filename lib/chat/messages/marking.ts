import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import { markGenerated } from './store-changes.ts'

/** Marks posts as generated text whose authors say so; `undefined` without any. */
export function createMarking(_: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  if (!posts.some(({ input }) => input.generated)) return undefined
  const ids: { id: string }[] = []
  return {
    load: async () => undefined,
    decide: ({ input: { generated } }) => (generated ? { generated: 1 } : undefined),
    add({ id, generated }) {
      if (generated) ids.push({ id })
    },
    store: (tx) => markGenerated.run(tx, ids),
  }
}
