import { effect } from '@preact/signals'
import type { ChatStore } from 'chat-server/client/store'
import { isOnline } from './online.ts'
import type { Session } from './session.ts'
import type { Unsent } from './unsent.ts'
import { isTooOld, unsentPosts } from './unsent-storage.ts'

/**
 * Sends what was not sent: at the start of the page and after a sign-in what an earlier page has left, and what has failed
 * when the network is back. The store does the latter only when its stream was lost, which may outlive the network.
 */
export function resend(unsent: Unsent, store: ChatStore, session: Session): void {
  let known: string | undefined
  effect(() => {
    const id = session.user.value?.id
    if (id !== undefined && id !== known) void unsent.restore(store)
    known = id
  })
  effect(() => {
    const id = session.user.peek()?.id
    if (!isOnline.value || id === undefined) return
    // One that is on its way is left as it is.
    for (const post of unsentPosts(id)) if (!isTooOld(post)) void store.retry(post.key)
  })
}
