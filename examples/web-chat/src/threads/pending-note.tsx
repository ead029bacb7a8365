import type { PendingPost } from 'chat-server/client/store'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'

const FailedPost = lazy(() => import('./failed-post.tsx').then(({ FailedPost }) => FailedPost))

/** What becomes of a post that is not stored yet. */
export function PendingNote({ post }: { post: PendingPost }) {
  if (post.status === 'sending') return <p class="note">{texts.value.messages.sending}</p>
  return <FailedPost post={post} />
}
