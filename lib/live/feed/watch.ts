import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { repeatIfCalled, singleFlight } from '../../core/scheduling/once.ts'
import type { EventRow } from '../log/log.ts'
import { isForAnother } from '../log/private.ts'
import type { Feed } from './feed.ts'
import type { Place } from './feed-order.ts'

/** The number of rows that one read returns. */
const PAGE = 256

/** A reader that waits for the next event of its user's conversations. */
export interface Watcher {
  user_id: string
  /** Whether it waits for the events of all conversations. */
  is_system: boolean
  /** The only conversation whose events it wants. */
  conversation_id?: string | undefined
  /** Whether it wants an event like this one, if it concerns its user. */
  wants(row: EventRow): boolean
  /** Is called when there may be an event for it: it reads, and waits on if there is none. */
  wake(): unknown
  /** Whether it must hear at once of what other processes write; no reader of a user does, who has a stream. */
  isUrgent?(): boolean
}

export interface WatchDeps {
  feed: Pick<Feed, 'head' | 'news'>
  /** Which of these users participate in which of these conversations. */
  listParticipations(
    userIds: ReadonlySet<string>,
    conversationIds: ReadonlySet<string>,
  ): Promise<{ conversation_id: string; user_id: string }[]>
  log: Log
}

/** The readers that wait for an event, of this process. */
export type Watch = ReturnType<typeof createWatch>

/**
 * Looks at new rows of the log once for all readers that wait. The conversations of a reader are not read before: which
 * readers participate in the few conversations with new events is one statement.
 */
export function createWatch({ feed, listParticipations, log }: WatchDeps) {
  const watchers = new Set<Watcher>()
  let place: Place | undefined
  let isEarly = false

  const begin = singleFlight(async () => {
    if (place === undefined) place = await feed.head()
  })

  async function look(): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const news = await feed.news(place!, PAGE)
      const rows = news.rows.map(([row]) => row)
      for (const watcher of await concernedBy(rows, watchers, listParticipations)) watcher.wake()
      place = news.place
      isEarly = news.isEarly
      isLast = news.isLast
    }
  }

  /** Without readers nothing is read. */
  function rest(): void {
    if (watchers.size === 0) place = undefined
  }

  const lookOn = repeatIfCalled(look, begin, rest)

  return {
    /** The number of readers of users; the service itself waits for the events of all conversations. */
    size: () => [...watchers].filter(({ user_id }) => user_id !== '').length,

    /** Whether the service itself waits for what other processes write. Users who wait have streams. */
    isUrgent: () => [...watchers].some((watcher) => watcher.isUrgent?.()),

    /**
     * Adds a reader, which reads when this resolves: what is committed later wakes it.
     *
     * @returns a function that removes it
     */
    async add(watcher: Watcher): Promise<() => void> {
      if (!lookOn.current()) rest()
      watchers.add(watcher)
      const remove = () => {
        watchers.delete(watcher)
        if (!lookOn.current()) rest()
      }
      try {
        await begin()
      } catch (error) {
        remove()
        throw error
      }
      return remove
    },

    /** There are new events. */
    advance(): void {
      if (watchers.size === 0) return
      lookOn().catch((error) => {
        log.warn('New events cannot be read', { cause: causeText(error) })
        // Each reads by itself, and fails if that fails.
        for (const watcher of watchers) watcher.wake()
      })
    },
    /** Whether there are rows that can only be read when unfinished transactions have ended. */
    isEarly: () => isEarly && watchers.size > 0,
  }
}

/** The watchers for which there may be an event among these rows. */
async function concernedBy(
  rows: EventRow[],
  watchers: ReadonlySet<Watcher>,
  listParticipations: WatchDeps['listParticipations'],
): Promise<Watcher[]> {
  const conversations = new Set(rows.map(({ conversation_id }) => conversation_id))
  const wanting: Watcher[] = []
  // Thousands may wait, of which few have to look at the rows.
  for (const watcher of watchers) {
    const { conversation_id, wants, user_id } = watcher
    if (conversation_id !== undefined && !conversations.has(conversation_id)) continue
    if (rows.some((row) => wants(row) && !isForAnother(row, user_id))) wanting.push(watcher)
  }
  const users = wanting.filter(({ is_system }) => !is_system)
  if (users.length === 0) return wanting
  const userIds = new Set(users.map(({ user_id }) => user_id))
  const places = new Set(
    (await listParticipations(userIds, conversations)).map((place) => `${place.conversation_id}/${place.user_id}`),
  )
  return wanting.filter(({ is_system, user_id, wants }) =>
    rows.some(
      (row) =>
        wants(row) &&
        !isForAnother(row, user_id) &&
        (is_system || isOwnMembership(row, user_id) || places.has(`${row.conversation_id}/${user_id}`)),
    ),
  )
}

/** Whether a row is a change of the user's own membership, which the user sees also in a conversation that it ends in. */
export function isOwnMembership({ type, user_id }: EventRow, userId: string): boolean {
  return type === 'membership.changed' && user_id === userId
}
