import { createTimer } from '../../core/scheduling/timer.ts'
import { createBackoff, isTransient } from '../backoff.ts'
import type { StoreBase } from './base.ts'
import type { SeenOptions } from './seen.ts'
import type { TimelineStoreMessage } from './types.ts'
import { waitingMarks } from './window-marks.ts'

/** How long the end of a message is in view until it is read. */
const SEEN_MS = 500

/** The time between two looks at unread messages in view: a browser does not tell when the end of a long one appears. */
const LOOK_MS = 100

/** The shortest time between two marks. */
const MARK_MS = 1_000

interface Watch {
  message: TimelineStoreMessage
  view: NonNullable<SeenOptions['view']>
  /** Whether a part of it is in view. */
  isNear?: boolean
  /** Since when its end is in view, on the clock of the page. */
  since?: number | undefined
  /** It was seen, or is read: what the user marks as unread counts again when it comes into view again. */
  isDone?: boolean
  /** It is an answer that ended while it was watched: its notification may be still on its way. */
  hasEnded?: boolean
}

const isActive = () => document.visibilityState === 'visible' && document.hasFocus()

/** The elements of messages, until they are seen. */
export interface SeenWatches {
  /** Watches an element, or takes its message as it is now. */
  add(element: Element, message: TimelineStoreMessage, options: SeenOptions): void
  /** Ends it, unless the element has another message now. */
  remove(element: Element, message: TimelineStoreMessage): void
}

export function createWatches({ client, feed }: StoreBase): SeenWatches {
  const watches = new Map<Element, Watch>()
  const marks = createMarks(client, feed, release)
  const looking = createTimer(() => look())
  let observer: IntersectionObserver | undefined
  let listening: AbortController | undefined

  function start(): IntersectionObserver {
    if (!listening) {
      listening = new AbortController()
      const { signal } = listening
      for (const type of ['focus', 'blur', 'pagehide']) addEventListener(type, look, { signal })
      document.addEventListener('visibilitychange', look, { signal })
    }
    observer ??= new IntersectionObserver((entries) => entries.forEach(see), { threshold: [0, 1] })
    return observer
  }

  /** It never counts as unread, but the user is notified of its end. */
  const isOwnAnswer = ({ role, requested_by }: TimelineStoreMessage) =>
    role === 'assistant' && requested_by === feed.userId()

  function see({
    target,
    time,
    isIntersecting,
    intersectionRect,
    boundingClientRect,
  }: IntersectionObserverEntry): void {
    const watch = watches.get(target)
    if (!watch) return
    if (!isIntersecting) {
      watch.isNear = false
      watch.since = undefined
      watch.isDone = false
      return
    }
    watch.isNear = true
    if (!watch.message.unread && !isOwnAnswer(watch.message)) watch.isDone = true
    if (watch.isDone) return
    const hasEnd = isActive() && intersectionRect.bottom >= boundingClientRect.bottom - 1
    watch.since = hasEnd ? (watch.since ?? time) : undefined
    if (watch.since !== undefined && time - watch.since >= SEEN_MS) {
      watch.isDone = true
      // The first mark of an answer is for its end, later ones only for what still waits.
      if (watch.message.unread || watch.hasEnded || feed.inbox.getSnapshot().unread > 0) marks.add(watch)
      watch.hasEnded = false
    } else if (isActive()) looking.set(LOOK_MS)
  }

  /** An observer tells of each element that it begins to watch. */
  function look(event?: Event): void {
    if (event?.type === 'pagehide' || document.visibilityState === 'hidden') marks.flush()
    for (const [element, watch] of watches) {
      if (!watch.isNear) continue
      if (!isActive()) watch.since = undefined
      else if (!watch.isDone) {
        observer?.unobserve(element)
        observer?.observe(element)
      }
    }
  }

  function release(): void {
    if (watches.size > 0 || marks.isWaiting()) return
    looking.cancel()
    listening?.abort()
    listening = undefined
  }

  return {
    add(element, message, { view = message.parent_id === undefined ? 'roots' : 'replies' }) {
      const known = watches.get(element)
      if (known?.message.id === message.id) {
        if (known.message.status !== message.status) Object.assign(known, { hasEnded: true, isDone: false })
        Object.assign(known, { message, view })
      } else {
        watches.set(element, { message, view })
        start().unobserve(element)
      }
      start().observe(element)
    },
    remove(element, message) {
      if (watches.get(element)?.message.id !== message.id) return
      observer?.unobserve(element)
      watches.delete(element)
      release()
    },
  }
}

/** One mark for each list, the latest, and at most one request in a second. */
function createMarks(client: StoreBase['client'], { userId }: StoreBase['feed'], onIdle: () => void) {
  const { threads, conversations } = client
  const waiting = new Map<string, Watch & { user_id: string }>()
  waitingMarks.set(client, waiting)
  const timer = createTimer(next)
  const backoff = createBackoff(MARK_MS)

  function add(watch: Watch, user_id = userId()): void {
    const { message, view } = watch
    const key = `${view} ${view === 'replies' ? message.root_id : message.conversation_id}`
    const other = waiting.get(key)
    if (!other || other.user_id !== user_id || other.message.created_at < message.created_at)
      waiting.set(key, { message, view, user_id })
  }

  function next(): void {
    for (const [key, mark] of waiting) {
      timer.set(MARK_MS)
      waiting.delete(key)
      void send(mark)
      return
    }
    onIdle()
  }

  async function send({ message, view, user_id }: Watch & { user_id: string }): Promise<void> {
    // The page has another user now.
    if (user_id !== userId()) return
    const { id: message_id, root_id, conversation_id } = message
    // It arrives although the page is closed meanwhile.
    const options = { keepalive: true }
    try {
      if (view === 'replies') await threads.markRead(root_id, { message_id }, options)
      else await conversations.markRead(conversation_id, { ...(view === 'all' && { all: true }), message_id }, options)
      backoff.opened()
    } catch (error) {
      if (!isTransient(error)) return
      add({ message, view }, user_id)
      timer.cancel()
      timer.set(backoff.next())
    }
  }

  return {
    add(watch: Watch) {
      add(watch)
      if (!timer.isSet()) next()
    },
    /** Sends all of them at once. */
    flush() {
      for (const [key, mark] of waiting) {
        waiting.delete(key)
        void send(mark)
      }
    },
    isWaiting: () => waiting.size > 0,
  }
}
