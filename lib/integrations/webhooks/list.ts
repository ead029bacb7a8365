import type { Route } from './route-index.ts'
import { type Routing, toRoute } from './routing.ts'
import type { RoutedRow } from './store-sending.ts'

/** What this process knows of a webhook that is sent events. */
export interface Known {
  route: Route
  /** All events before are settled, as it is stored. */
  position: string
  /** Whether no event up to the place of the routing is to be sent. */
  is_settled: boolean
  /** Results that this process has stored since it looked for deliveries that are too many; at first it looks at once. */
  untrimmed: number
}

/** The webhooks that are sent events. */
export type WebhookList = ReturnType<typeof createWebhookList>

/** @param routing gets what each of them wants */
export function createWebhookList(routing: Pick<Routing, 'add' | 'remove'>) {
  const all = new Map<string, Known>()

  return {
    size: () => all.size,
    ids: () => [...all.keys()],
    get: (id: string) => all.get(id),

    /** Notes what a webhook wants now. */
    learn(row: Omit<RoutedRow, 'writer' | 'is_lapsed'>): Known {
      const { id, position } = row
      const before = all.get(id)
      const route = toRoute(row)
      if (before) routing.remove(before.route)
      routing.add(route)
      const known = before
        ? Object.assign(before, { route })
        : { route, position, is_settled: false, untrimmed: Number.POSITIVE_INFINITY }
      all.set(id, known)
      return known
    },

    forget(id: string): void {
      const known = all.get(id)
      if (known) routing.remove(known.route)
      all.delete(id)
    },

    /** The webhooks of which nothing is to be sent up to the place of the routing, by their positions. */
    settledByPosition(isSettled: (id: string) => boolean): Map<string, Known[]> {
      const byPosition = new Map<string, Known[]>()
      for (const [id, known] of all) {
        if (!known.is_settled || !isSettled(id)) continue
        const others = byPosition.get(known.position)
        if (others) others.push(known)
        else byPosition.set(known.position, [known])
      }
      return byPosition
    },
  }
}
