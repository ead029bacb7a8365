import { listParticipations } from '../../chat/memberships/store.ts'
import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { repeatIfCalled, warnOnce } from '../../core/scheduling/once.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import { isOwnMembership } from '../../live/feed/watch.ts'
import { isForAnother } from '../../live/log/private.ts'

/** The number of rows that are looked at together. */
const PAGE = 512

/** Which rows of the log may concern a webhook. */
export interface Route {
  id: string
  /** `null` for all conversations. */
  user_id: string | null
  types: ReadonlySet<string>
  conversation_id: string | null
}

/** Finds the webhooks that new events concern. */
export type Routing = ReturnType<typeof createRouting>

/**
 * Looks at new rows of the log once for all webhooks: those that a row does not concern cost nothing but a look at its type.
 *
 * @param wake is called with a webhook that a row may concern, and the place before the first such row
 */
export function createRouting(
  { db, log, streams }: Pick<Context, 'db' | 'log' | 'streams'>,
  wake: (id: string, before: Place) => void,
) {
  const { feed, watch } = streams.hub
  const byType = new Map<string, Map<string, Route>>()
  const state: { place?: Place; unwatch?: () => void; isBehind: boolean } = { isBehind: false }
  const warn = warnOnce((error: unknown) =>
    log.warn('New events could not be looked at for webhooks', { cause: causeText(error) }),
  )

  async function look(): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const news = await feed.news(state.place!, PAGE)
      await route(news.rows, state.place!)
      state.place = news.place
      isLast = news.isLast
    }
  }

  async function route(rows: [row: FeedRow, place: Place][], start: Place): Promise<void> {
    const candidates = candidatesOf(rows, byType)
    if (candidates.length === 0) return
    const users = new Set(candidates.flatMap(({ user_id }) => user_id ?? []))
    const conversations = new Set(rows.map(([row]) => row.conversation_id))
    const participations = users.size === 0 ? [] : await listParticipations(db, users, conversations)
    const places = new Set(participations.map((each) => `${each.conversation_id} ${each.user_id}`))
    for (const candidate of candidates) {
      const first = rows.findIndex(([row]) => isWanted(row, candidate) && isSeen(row, candidate.user_id, places))
      if (first >= 0) wake(candidate.id, first === 0 ? start : rows[first - 1]![1])
    }
  }

  const lookOn = repeatIfCalled(look)

  async function advance(): Promise<void> {
    if (state.place === undefined) return
    await lookOn().then(
      () => {
        state.isBehind = false
        warn.reset()
      },
      (error) => {
        state.isBehind = true
        warn(error)
      },
    )
  }

  return {
    /** The place up to which all rows were looked at; `undefined` before the start. */
    place: () => state.place,
    /** Whether all rows were looked at that are known. */
    isIdle: () => lookOn.current() === undefined && !state.isBehind,
    /** Looks again, if the last look failed. */
    retry: () => state.isBehind && void advance(),
    /** Looks at rows of types that no webhook wants, too: without it, nothing says that they are settled. */
    catchUp: advance,

    /** Looks at rows from a place on. */
    async start(place: Place): Promise<void> {
      state.place = place
      const wants = ({ type }: { type: string }) => byType.has(type)
      state.unwatch = await watch.add({ user_id: '', is_system: true, wants, wake: advance })
      // What was committed before it watched.
      void advance()
    },
    async stop(): Promise<void> {
      state.unwatch?.()
      delete state.unwatch
      await lookOn.current()?.catch(() => {})
      delete state.place
    },

    add(route: Route): void {
      for (const type of route.types) byType.set(type, (byType.get(type) ?? new Map()).set(route.id, route))
    },
    remove({ id, types }: Route): void {
      for (const type of types) {
        byType.get(type)?.delete(id)
        if (byType.get(type)?.size === 0) byType.delete(type)
      }
    },
  }
}

/** The webhooks that want one of these rows, by its type and its conversation. */
function candidatesOf(rows: [row: FeedRow, place: Place][], byType: Map<string, Map<string, Route>>): Route[] {
  const types = new Set(rows.map(([row]) => row.type))
  const candidates = new Set<Route>()
  for (const type of types) for (const route of byType.get(type)?.values() ?? []) candidates.add(route)
  return [...candidates].filter((route) => rows.some(([row]) => isWanted(row, route)))
}

/** Whether a webhook wants a row, if its user sees it. */
export function isWanted(row: FeedRow, { types, conversation_id, user_id }: Route): boolean {
  const isHere = conversation_id === null || row.conversation_id === conversation_id
  return types.has(row.type) && isHere && !isForAnother(row, user_id ?? '')
}

function isSeen(row: FeedRow, userId: string | null, places: ReadonlySet<string>): boolean {
  return userId === null || isOwnMembership(row, userId) || places.has(`${row.conversation_id} ${userId}`)
}
