import { isGone, isTransient } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { createCell, type Watchable } from './cell.ts'
import type { Feed, Follower } from './feed.ts'
import { lingering } from './lingering.ts'
import { createReading, type Read } from './reading.ts'
import { renamed } from './renaming.ts'

/** Whether something has been read; `error` is the last failure, also of a later reading of what is `ready`. */
export interface Loading {
  status: 'loading' | 'ready' | 'failed'
  error?: unknown
}

/** How a part of the store is read and kept current. */
export interface Plan<Data, View> {
  initial: Data
  /**
   * Reads it.
   *
   * @param current what was read before: the result is as long, or with `isMore` longer
   * @param from where the reading begins: at `initial`, or at the end of `known` if that needs no reading again
   * @param causes the events because of which it is read again; `undefined` if all of it may have changed
   */
  read(current: Data, isMore: boolean, from: Data, causes?: readonly ConversationStreamEvent[]): Promise<Data>
  /** The data after an event, or `'stale'` if the event does not contain the change: then it is read again. */
  fold(data: Data, event: ConversationStreamEvent): Data | 'stale'
  /**
   * Whether it is read again after an event, although that is folded: it may be older than what is known.
   *
   * @param isMissed whether it arrived while the data was read, which may have it
   */
  isUnsure?(event: ConversationStreamEvent, data: Data, isMissed: boolean): boolean
  /** The conversation of the data, if the user reads that without participating: the stream of all has none of its events. */
  visits?(data: Data): string | undefined
  /** Whether data that was complete when the stream broke off may be incomplete when it continues. */
  isEphemeral?: boolean
  /** Whether it has only conversations in which the user participates. */
  isOwn?: boolean
  view(data: Data, loading: Loading): View
}

/** Something that is read once it has a reader, and follows the stream while it has one. */
export interface Resource<Data, View> extends Watchable<View> {
  /** Reads it again now, to where it was read. */
  reload: () => Promise<void>
  /** Reads further now. */
  loadMore: () => Promise<void>
  /** Whether it is as new as the events so far: none has to be read for. */
  isCurrent(): boolean
  /** Changes the data, or shows it again if what the view adds has changed. */
  update(change?: (data: Data) => Data): void
  /** Changes the data as an event will that has not come yet. */
  expect(event: ConversationStreamEvent): void
  /** Forgets what was read: the user may be another. */
  reset(): void
}

/**
 * @param refresh_ms the time between two readings because of events
 * @param seed what a snapshot has of it: it is shown until it is read
 */
export function createResource<Data extends object, View>(
  feed: Feed,
  plan: Plan<Data, View>,
  refresh_ms: number,
  seed?: Data,
): Resource<Data, View> {
  const reading = createReading(readOnce, refresh_ms)
  const { now: reload, later } = reading
  const state = createState(
    plan,
    seed,
    lingering(() => feed.join(follower), cease),
  )

  /** Set while events may be missing between what is known and those of the stream: what is known then has none of them. */
  let gap: object | undefined
  let visited: string | undefined
  let leave: (() => void) | undefined

  /** Follows the own stream of a conversation, and no other one. */
  function visit(id?: string): void {
    if (id === visited) return
    visited = id
    leave?.()
    leave = id ? feed.visit(id, follower) : undefined
  }

  function cease(): void {
    reading.cancel()
    visit()
  }

  async function readOnce(...[isMore, isCurrent, causes]: Parameters<Read>): Promise<void> {
    const begun = state.resets()
    const closing = gap
    try {
      let next: Data = await plan.read(state.data(), isMore, isCurrent ? state.data() : plan.initial, causes)
      if (begun !== state.resets()) return
      if (gap === closing) {
        gap = undefined
        for (const event of reading.missed()) next = folded(next, event, true)
      }
      state.show(next, { status: 'ready' })
      if (state.cell.isWatched()) visit(plan.visits?.(next))
    } catch (error) {
      reading.doubt()
      // What was read for the former user, or failed, is void.
      if (begun !== state.resets()) return
      if (isGone(error)) {
        visit()
        state.show(plan.initial, { status: 'failed', error })
      } else state.fail(error)
      if (isTransient(error) && state.cell.isWatched()) later(undefined, { hasFailed: true })
    }
  }

  function folded(from: Data, event: ConversationStreamEvent, isMissed = false): Data {
    const current =
      event.type === 'user.merged' ? renamed(from, event.payload.from_user_id, event.payload.user.id) : from
    const next = plan.fold(current, event)
    // What was counted for the two may be less for the one.
    if (next === 'stale' || current !== from || plan.isUnsure?.(event, current, isMissed)) later(event)
    return next === 'stale' ? current : next
  }

  const follower: Follower = {
    load() {
      gap = {}
      return reload()
    },
    resume: () => plan.isEphemeral && later(),
    apply(event) {
      reading.note(event)
      if (state.isReady() && !gap) state.show(folded(state.data(), event))
      else if (event.type === 'membership.changed') later()
    },
    fail: state.fail,
    isOwn: plan.isOwn,
    reset,
    close: cease,
  }

  const { set: _, ...readable } = state.cell
  const { update } = state

  function reset(): void {
    visit()
    state.reset()
  }

  return {
    ...readable,
    reload,
    loadMore: reading.more,
    isCurrent: reading.isIdle,
    update,
    expect: (event) =>
      update((data) => {
        const next = plan.fold(data, event)
        return next === 'stale' ? data : next
      }),
    reset,
  }
}

/** The data with its view, which is recreated when either it or its loading has changed. */
function createState<Data, View>(
  plan: Plan<Data, View>,
  seed: Data | undefined,
  onWatched: (isWatched: boolean) => void,
) {
  let data = seed ?? plan.initial
  let loading: Loading = { status: seed ? 'ready' : 'loading' }
  let resets = 0
  const cell = createCell(plan.view(data, loading), onWatched)

  function show(next: Data, state = loading): void {
    if (next === data && state === loading) return
    data = next
    loading = state
    cell.set(plan.view(data, loading))
  }

  return {
    cell,
    data: () => data,
    isReady: () => loading.status === 'ready',
    show,
    resets: () => resets,
    reset() {
      resets++
      show(plan.initial, { status: 'loading' })
    },
    fail: (error: unknown) => show(data, { status: loading.status === 'ready' ? 'ready' : 'failed', error }),
    update(change: (data: Data) => Data = (same) => same) {
      data = change(data)
      cell.set(plan.view(data, loading))
    },
  }
}
