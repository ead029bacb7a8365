import type { StoreMessage } from 'chat-server/client/store'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

/** How long what was seen is gathered before it is reported. */
const GATHER_MS = 400

interface Watched {
  scroller: RefObject<HTMLElement | null>
  conversation_id: string
  root_id: string
  messages: readonly StoreMessage[]
  /** Whether all of them are rendered. */
  isRendered: boolean
  has_more: boolean
  user_id: string
}

/**
 * Marks messages as read that were in view, in a window that has the focus.
 *
 * A marker is an instant: everything that arrived before it is read. So it moves up to the first unread message, by arrival,
 * that was not in view.
 *
 * @returns the ids of messages that were unread when the thread was opened, or arrived while the user was elsewhere; and how
 *   many are unread now
 */
export function useReadMarker(watched: Watched): { fresh: ReadonlySet<string>; count: number } {
  const { scroller, conversation_id, root_id, messages, isRendered, has_more, user_id } = watched
  const { client, store } = useApp()
  const { threads, status } = useReadable(store.threads(conversation_id))
  const count = threads.find((thread) => thread.root_id === root_id)?.unread ?? 0
  const unread = useMemo(() => (has_more ? [] : unreadOf(messages, count, user_id)), [messages, count, has_more])
  const seen = useRef(new Set<string>())
  const marked = useRef('')
  const isOpened = useRef(false)
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())

  function report(): void {
    const first = unread.findIndex(({ id }) => !seen.current.has(id))
    const last = unread[(first < 0 ? unread.length : first) - 1]
    if (!last || last.id === marked.current) return
    marked.current = last.id
    // After a failure, the next one that is seen moves the marker as well.
    client.threads.markRead(root_id, { message_id: last.id }).catch(() => {
      marked.current = ''
    })
  }

  useEffect(() => {
    if (status !== 'ready' || messages.length === 0 || has_more || !isRendered) return
    const missing = isOpened.current && document.hasFocus() ? [] : unread.filter(({ id }) => !fresh.has(id))
    isOpened.current = true
    if (missing.length > 0) setFresh(new Set([...fresh, ...missing.map(({ id }) => id)]))
    if (unread.length === 0 || !scroller.current) return
    return watch(scroller.current, unread, (id) => seen.current.add(id), report)
    // Not the messages: while an answer is written, they are others with every word.
  }, [unread.map(({ id }) => id).join(), status, has_more, isRendered])
  return { fresh, count }
}

/** Calls `onSeen` for each message that comes into view, and `report` once a few have. @returns a function that ends this */
function watch(
  scroller: HTMLElement,
  messages: readonly StoreMessage[],
  onSeen: (id: string) => void,
  report: () => void,
): () => void {
  const ids = new Set(messages.map(({ id }) => id))
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

/** The last `count` messages of others, by arrival: the service counts them, and does not name them. */
function unreadOf(messages: readonly StoreMessage[], count: number, user_id: string): StoreMessage[] {
  if (count === 0) return []
  return messages
    .filter(
      (message) =>
        !message.pending && !message.deleted_at && (message.author_user_id ?? message.requested_by) !== user_id,
    )
    .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))
    .slice(-count)
}
