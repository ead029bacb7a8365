import type { NotificationKind } from './schema.ts'

/** Whether a notification of this kind counts as an unread mention of its conversation. */
export function isCounted(kind: NotificationKind): boolean {
  return kind === 'mention' || kind === 'mention_all' || kind === 'reply' || kind === 'approval'
}

/** Numbers of unread mentions, by conversation and by participant. */
export type MentionCounts = Map<string, Map<string, number>>

/** What one notification counts for its users. */
interface Counted {
  kind: NotificationKind
  conversation_id: string
  users: readonly { user_id: string }[]
}

/** The numbers of unread mentions that these notifications are for their users. */
export function countMentions(rows: readonly Counted[]): MentionCounts {
  const byConversation: MentionCounts = new Map()
  for (const { kind, conversation_id, users } of rows) {
    if (!isCounted(kind)) continue
    const counts = byConversation.get(conversation_id) ?? new Map<string, number>()
    byConversation.set(conversation_id, counts)
    for (const { user_id } of users) counts.set(user_id, (counts.get(user_id) ?? 0) + 1)
  }
  return byConversation
}

/** The participants of a conversation with the same number: a statement for each group. */
export function groupCounts(counts: MentionCounts): { count: number; conversation_id: string; ids: string[] }[] {
  return [...counts].flatMap(([conversation_id, byUser]) => {
    const groups = new Map<number, string[]>()
    for (const [user_id, count] of byUser) {
      const group = groups.get(count)
      if (group) group.push(user_id)
      else groups.set(count, [user_id])
    }
    return [...groups].map(([count, ids]) => ({ count, conversation_id, ids }))
  })
}

/** Each participant with the number. */
export function listCounts(counts: MentionCounts): { conversation_id: string; user_id: string; count: number }[] {
  return [...counts].flatMap(([conversation_id, byUser]) =>
    [...byUser].map(([user_id, count]) => ({ conversation_id, user_id, count })),
  )
}

/** The participants whose unread mentions these notifications change. */
export const mentionGroups = (rows: readonly Counted[]) => groupCounts(countMentions(rows))
