import type { App } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { isMuted } from '../conversations/muted.ts'
import { bySections } from '../conversations/sections.ts'

/** How many more pages of conversations are read to find the next one. */
const MAX_PAGES = 5

/**
 * Opens the conversation before or behind the open one in the list, or the next unread one there: of a long list not all is
 * rendered, nor is what a section hides.
 */
export async function goBy({ store, route }: App, step: 1 | -1, isUnread: boolean): Promise<void> {
  const open = 'conversation_id' in route.value ? route.value.conversation_id : undefined
  for (let page = 0; page <= MAX_PAGES; page++) {
    const { conversations, has_more } = store.conversations.getSnapshot()
    const listed = bySections(conversations)
    const at = listed.findIndex(({ id }) => id === open)
    const rest = step > 0 ? listed.slice(at + 1) : listed.slice(0, Math.max(at, 0)).reverse()
    const next = isUnread ? rest.find(({ unread, muted_until }) => unread > 0 && !isMuted(muted_until)) : rest[0]
    if (next) return goTo({ name: 'conversation', conversation_id: next.id })
    if (step < 0 || !has_more) return
    await store.conversations.loadMore()
  }
}
