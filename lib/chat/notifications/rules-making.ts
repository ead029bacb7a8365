import { isCounted } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** How many unread mentions a participant gets. */
export interface News {
  conversation_id: string
  user_id: string
  added: number
}

/** By conversation, and by participant. */
export type NewsByConversation = Map<string, Map<string, number>>

/** Counts the unread mentions that participants get by new notifications. */
export function countNews(
  rows: readonly { kind: NotificationKind; conversation_id: string; users: readonly { user_id: string }[] }[],
): NewsByConversation {
  const news = new Map<string, Map<string, number>>()
  for (const { kind, conversation_id, users } of rows) {
    if (!isCounted(kind)) continue
    const counts = news.get(conversation_id) ?? new Map<string, number>()
    news.set(conversation_id, counts)
    for (const { user_id } of users) counts.set(user_id, (counts.get(user_id) ?? 0) + 1)
  }
  return news
}

/** Those of a conversation who get as many together: a statement for each. */
export function groupNews(news: NewsByConversation): { added: number; conversation_id: string; ids: string[] }[] {
  return [...news].flatMap(([conversation_id, counts]) => {
    const groups = new Map<number, string[]>()
    for (const [user_id, added] of counts) {
      const known = groups.get(added)
      if (known) known.push(user_id)
      else groups.set(added, [user_id])
    }
    return [...groups].map(([added, ids]) => ({ added, conversation_id, ids }))
  })
}

/** One by one. */
export function listNews(news: NewsByConversation): News[] {
  return [...news].flatMap(([conversation_id, counts]) =>
    [...counts].map(([user_id, added]) => ({ conversation_id, user_id, added })),
  )
}
