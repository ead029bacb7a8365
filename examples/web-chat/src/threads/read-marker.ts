import type { StoreMessage } from 'chat-server/client/store'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

/** How long what was seen is gathered before it is reported. */
const GATHER_MS = 400

interface Thread {
  conversation_id: string
  root_id: string
  messages: readonly StoreMessage[]
  has_more: boolean
  user_id: string
}

/** What is unread in a thread. */
interface Unread {
  /** The ids of its unread messages by arrival; none while it is not read to its end. */
  unread: ReadonlySet<string>
  count: number
  /** Whether the number is known. */
  isCounted: boolean
}

export function useUnread({ conversation_id, root_id, messages, has_more, user_id }: Thread): Unread {
  const { store } = useApp()
  const { threads, status } = useReadable(store.threads(conversation_id))
  const count = threads.find((thread) => thread.root_id === root_id)?.unread ?? 0
  const found = useMemo(() => (has_more ? [] : unreadOf(messages, count, user_id)), [messages, count, has_more])
  // While an answer is written, the messages are others with every word.
  const unread = useMemo(() => new Set(found), [found.join()])
  return { unread, count, isCounted: status === 'ready' }
}

interface Watched {
  scroller: RefObject<HTMLElement | null>
  root_id: string
  /** The ids of unread messages, by arrival. */
  unread: ReadonlySet<string>
  /** Whether these are known, and all of them are rendered. */
  isReady: boolean
}

/**
 * Marks messages as read that were in view, in a window that has the focus.
 *
 * A marker is an instant: everything that arrived before it is read. So it moves up to the first unread message, by arrival,
 * that was not in view.
 *
 * @returns the ids of messages that were unread when the thread was opened, or arrived while the user was elsewhere
 */
export function useReadMarker({ scroller, root_id, unread, isReady }: Watched): ReadonlySet<string> {
  const { client } = useApp()
  const seen = useRef(new Set<string>())
  const marked = useRef('')
  const isOpened = useRef(false)
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())

  function report(): void {
    const ids = [...unread]
    const first = ids.findIndex((id) => !seen.current.has(id))
    const message_id = ids[(first < 0 ? ids.length : first) - 1]
    if (message_id === undefined || message_id === marked.current) return
    marked.current = message_id
    // After a failure, the next one that is seen moves the marker as well.
    client.threads.markRead(root_id, { message_id }).catch(() => {
      marked.current = ''
    })
  }

  useEffect(() => {
    if (!isReady) return
    const missing = isOpened.current && document.hasFocus() ? [] : [...unread].filter((id) => !fresh.has(id))
    isOpened.current = true
    if (missing.length > 0) setFresh(new Set([...fresh, ...missing]))
    if (unread.size === 0 || !scroller.current) return
    return watch(scroller.current, unread, (id) => seen.current.add(id), report)
  }, [unread, isReady])
  return fresh
}

/** Calls `onSeen` for each message that comes into view, and `report` once a few have. @returns a function that ends this */
function watch(
  scroller: HTMLElement,
  ids: ReadonlySet<string>,
  onSeen: (id: string) => void,
  report: () => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const observer = new IntersectionObserver(
    (entries) => {
      if (!document.hasFocus()) return
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) onSeen((target as HTMLElement).dataset.messageId!)
      clearTimeout(timer)
      timer = setTimeout(report, GATHER_MS)
    },
    { root: scroller },
  )
  const observe = () => {
    // Observed anew, it reports what is in view now.
    observer.disconnect()
    for (const row of scroller.querySelectorAll<HTMLElement>('.messages > [data-message-id]'))
      if (ids.has(row.dataset.messageId!)) observer.observe(row)
  }
  observe()
  addEventListener('focus', observe)
  return () => {
    clearTimeout(timer)
    observer.disconnect()
    removeEventListener('focus', observe)
  }
}

/** The ids of the last `count` messages of others, by arrival: the service counts them, and does not name them. */
function unreadOf(messages: readonly StoreMessage[], count: number, user_id: string): string[] {
  if (count === 0) return []
  return messages
    .filter(
      (message) =>
        !message.pending && !message.deleted_at && (message.author_user_id ?? message.requested_by) !== user_id,
    )
    .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))
    .slice(-count)
    .map(({ id }) => id)
}
