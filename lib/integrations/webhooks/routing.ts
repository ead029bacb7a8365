import { listParticipations, listSomeParticipants } from '../../chat/memberships/store.ts'
import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { repeatIfCalled, warnOnce } from '../../core/scheduling/once.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import { isOwnMembership } from '../../live/feed/watch.ts'
import { isForAnother } from '../../live/log/private.ts'
import { principalOf } from './composing.ts'
import { createRouteIndex, type Route, type RoutesByUser } from './route-index.ts'
import { toSentTypes } from './rules.ts'
import type { WebhookRow } from './store.ts'

/** The number of rows that are looked at together. */
const PAGE = 512

/** With more users than these, those of small conversations are read, and not which of the users are in them. */
const MANY_USERS = 64

/** Finds the webhooks that new events concern. */
export type Routing = ReturnType<typeof createRouting>

/**
 * Looks at new rows of the log once for all webhooks: those that a row does not concern cost nothing but a look at its type.
 *
 * @param wake is called with a webhook that a row may concern, and the place before the first such row
 * @param isSending whether this process sends for a webhook: no other one does, whichever has written an event
 */
export function createRouting(
  { db, log, streams }: Pick<Context, 'db' | 'log' | 'streams'>,
  wake: (id: string, before: Place) => void,
  isSending: () => boolean,
) {
  const { feed, watch } = streams.hub
  const index = createRouteIndex()
  const state: { place?: Place; unwatch?: () => void; isBehind: boolean } = { isBehind: false }
  const warn = warnOnce((error: unknown) =>
    log.warn('New events could not be looked at for webhooks', { cause: causeText(error) }),
  )

  async function look(): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const start = state.place!
      const news = await feed.news(start, PAGE)
      const views = await readViews(news.rows)
      // Without a wait between them: a webhook that comes before is among these, one that comes later begins at the new place.
      wakeWanting(news.rows, start, views)
      state.place = news.place
      isLast = news.isLast
    }
  }

  /** Wakes the webhooks that want some of these rows, of users who see them. */
  function wakeWanting(rows: [row: FeedRow, place: Place][], start: Place, { users, isSeen }: Views): void {
    const candidates = new Set<Route>()
    for (const group of index.groupsFor(rows.map(([row]) => row)))
      for (const user of users(group)) for (const route of group.get(user)?.values() ?? []) candidates.add(route)
    for (const candidate of candidates) {
      const first = rows.findIndex(([row]) => isWanted(row, candidate) && isSeen(row, candidate.user_id))
      if (first >= 0) wake(candidate.id, first === 0 ? start : rows[first - 1]![1])
    }
  }

  /** Reads who sees these rows. */
  async function readViews(rows: [row: FeedRow, place: Place][]): Promise<Views> {
    const asked = new Set(index.groupsFor(rows.map(([row]) => row)).flatMap((group) => [...group.keys()]))
    asked.delete('')
    const participations = await listParticipants(asked, new Set(rows.map(([row]) => row.conversation_id)))
    const places = new Set(participations.map((each) => `${each.conversation_id} ${each.user_id}`))
    const named = new Set([
      '',
      ...participations.map(({ user_id }) => user_id),
      ...rows.map(([row]) => row.user_id ?? ''),
    ])
    const isNew = (user: string) => user !== '' && !asked.has(user)
    return {
      // No webhook of another user is looked at: there may be thousands, and a post comes each millisecond.
      users: (group) => [...named, ...[...group.keys()].filter(isNew)],
      // It is not known of a user whose webhook has come meanwhile: the webhook looks itself.
      isSeen: (row, user) =>
        user === null || isNew(user) || isOwnMembership(row, user) || places.has(`${row.conversation_id} ${user}`),
    }
  }

  /** Which of these users are in these conversations; perhaps others, too. */
  async function listParticipants(users: ReadonlySet<string>, conversations: ReadonlySet<string>) {
    if (users.size === 0) return []
    if (users.size > MANY_USERS) {
      const all = await listSomeParticipants(db, conversations, users.size)
      if (all.length < users.size) return all
    }
    return listParticipations(db, users, conversations)
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
      const wants = ({ type }: { type: string }) => index.hasType(type)
      state.unwatch = await watch.add({ user_id: '', is_system: true, wants, wake: advance, isUrgent: isSending })
      // What was committed before it watched.
      void advance()
    },
    async stop(): Promise<void> {
      state.unwatch?.()
      delete state.unwatch
      await lookOn.current()?.catch(() => {})
      delete state.place
    },

    add: index.add,
    remove: index.remove,
  }
}

/** Who sees some rows. */
interface Views {
  /** The users of these routes that may see some of them. */
  users: (routes: RoutesByUser) => string[]
  isSeen: (row: FeedRow, userId: string | null) => boolean
}

/** What a webhook wants of the log. */
export function toRoute(row: Pick<WebhookRow, 'id' | 'user_id' | 'bot_id' | 'types' | 'conversation_id'>): Route {
  const { id, conversation_id, types } = row
  return { id, user_id: principalOf(row), types: toSentTypes(JSON.parse(types)), conversation_id }
}

/** Whether a webhook wants a row, if its user sees it. */
export function isWanted(row: FeedRow, { types, conversation_id, user_id }: Route): boolean {
  const isHere = conversation_id === null || row.conversation_id === conversation_id
  return types.has(row.type) && isHere && !isForAnother(row, user_id ?? '')
}
