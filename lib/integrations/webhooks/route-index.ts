import type { FeedRow } from '../../live/feed/feed-order.ts'

/** Which rows of the log may concern a webhook. */
export interface Route {
  id: string
  /** `null` for all conversations. */
  user_id: string | null
  types: ReadonlySet<string>
  conversation_id: string | null
}

/** Routes by their users, which is an empty text where there is none, and by their ids. */
export type RoutesByUser = ReadonlyMap<string, ReadonlyMap<string, Route>>

/** The routes of webhooks, found by the type and the conversation of a row: the others are not looked at. */
export function createRouteIndex() {
  const groups = new Map<string, Map<string, Map<string, Route>>>()
  const countByType = new Map<string, number>()
  const keyOf = (type: string, conversationId: string | null) => `${type} ${conversationId ?? ''}`

  function count(type: string, by: 1 | -1): void {
    const next = (countByType.get(type) ?? 0) + by
    if (next > 0) countByType.set(type, next)
    else countByType.delete(type)
  }

  return {
    hasType: (type: string) => countByType.has(type),

    add(route: Route): void {
      const user = route.user_id ?? ''
      for (const type of route.types) {
        const key = keyOf(type, route.conversation_id)
        const group = groups.get(key) ?? new Map<string, Map<string, Route>>()
        groups.set(key, group.set(user, (group.get(user) ?? new Map<string, Route>()).set(route.id, route)))
        count(type, 1)
      }
    },

    remove({ id, user_id, types, conversation_id }: Route): void {
      const user = user_id ?? ''
      for (const type of types) {
        const key = keyOf(type, conversation_id)
        const group = groups.get(key)
        if (!group?.get(user)?.delete(id)) continue
        count(type, -1)
        if (group.get(user)!.size === 0) group.delete(user)
        if (group.size === 0) groups.delete(key)
      }
    },

    /** The routes that want some of these rows, if their users see them. */
    groupsFor(rows: readonly Pick<FeedRow, 'type' | 'conversation_id'>[]): RoutesByUser[] {
      const keys = new Set(rows.flatMap((row) => [keyOf(row.type, null), keyOf(row.type, row.conversation_id)]))
      return [...keys].flatMap((key) => groups.get(key) ?? [])
    },
  }
}
