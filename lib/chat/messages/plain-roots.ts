import { isConfirmed } from '../../accounts/sessions/store.ts'
import { LIMITS_VERSION } from '../../limits/store.ts'
import type { Appended } from '../../live/log/appending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { name } from '../../storage/sql.ts'
import { createClocks, type NewPost, newRoot, type PostContext, type Posted } from './batch.ts'
import { publish } from './posting.ts'
import { toMessage } from './store.ts'
import { appendPlainRoots, type PlainRoot } from './store-plain-roots.ts'
import { IS_LEFT, NEW_MESSAGE, type NewMessage, STORING } from './store-posts.ts'

const append = appendPlainRoots({
  ...STORING,
  columns: NEW_MESSAGE,
  isLeft: IS_LEFT,
  isConfirmed: isConfirmed(name('writers'), LIMITS_VERSION),
})

/**
 * Stores plain roots in one statement, which goes out with the commit: nothing of the database is waited for before.
 *
 * @returns a function for after the commit, with the result of each root: `undefined` where it was not stored, because its
 *   conversation is locked, or its author may not post, or not as the author of a plain root
 */
export function addPlainRoots(
  ctx: PostContext,
  tx: Tx,
  posts: readonly NewPost[],
): () => Promise<(Posted | undefined)[]> {
  const advance = createClocks(ctx.now)
  const posted = posts.map((post): Posted & { row: NewMessage } => {
    const { conversation_id } = post.where as { conversation_id: string }
    const row = newRoot({ ...post, role: 'user' }, ctx.id(), advance({ conversation_id, clock: 0 }), conversation_id)
    return { row, title: post.input.title, message: toMessage(row), isPlainPlace: true }
  })
  const roots = posted.map(({ row, title }, n): PlainRoot => {
    return { ...row, title: title || null, ...ctx.accounts.remembered?.toConfirm(posts[n]!.actor) }
  })
  let appended: Promise<Appended> | undefined
  tx.appendBy((queries, additions) => {
    appended = append(queries, [JSON.stringify(roots)], additions)
    return appended
  })
  for (const post of posted) publish(tx, post)
  return async () => {
    const { heads } = await appended!
    return posted.map((post) => (heads.has(post.row.conversation_id) ? post : undefined))
  }
}
