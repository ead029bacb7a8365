import type { MessagesView, MessageWindow } from 'chat-server/client/store'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'

/** With more unread messages than these, a stream opens at its end. */
const MAX_UNREAD = 50

/** Where the new messages of a visit begin. */
export interface NewLine {
  id: string
  /** How many were unread. */
  count: number
  /** When the first one arrived, once it is known. */
  at?: string
  /** Whether a button leads to it: the stream was opened at its end. */
  hasPill: boolean
}

/**
 * The line above the first message that is new to the user; it stays for the visit, whatever is read.
 *
 * @param unread how many of its messages are unread
 * @param hasTarget whether it was opened at a message
 * @returns the line; whether it is decided where the stream opens; and functions to set and to remove it
 */
export function useNewLine(part: MessageWindow, view: MessagesView, unread: number, hasTarget: boolean) {
  const { client } = useApp()
  const [line, setLine] = useState<NewLine>()
  const [isDecided, setDecided] = useState(false)
  const { status, first_unread_id, messages } = view
  // What an earlier visit has left is somewhere else, and old.
  const [isFresh, setFresh] = useState(status !== 'ready')
  const isReady = isFresh && status === 'ready'
  const isBegun = useRef(false)

  useEffect(() => {
    if (!isFresh) void part.jumpTo('newest').finally(() => setFresh(true))
  }, [])

  useEffect(() => {
    if (!isReady || isBegun.current) return
    isBegun.current = true
    if (first_unread_id === undefined) return setDecided(true)
    const first = messages.find(({ id }) => id === first_unread_id)
    const isFar = !first && unread > MAX_UNREAD
    setLine({
      id: first_unread_id,
      count: unread,
      hasPill: isFar || hasTarget,
      ...(first && { at: first.created_at }),
    })
    if (first || isFar || hasTarget) return setDecided(true)
    void part.jumpTo('unread').finally(() => setDecided(true))
  }, [isReady])

  // What arrives while the user is elsewhere is new when they are back.
  useEffect(() => {
    if (!isDecided || line || first_unread_id === undefined || document.hasFocus()) return
    setLine({ id: first_unread_id, count: unread, hasPill: false })
  }, [isDecided, line, first_unread_id])

  const needsTime = line?.hasPill && line.at === undefined
  useEffect(() => {
    if (!needsTime) return
    client.messages.get(line.id).then(
      ({ created_at: at }) => setLine((now) => (now?.id === line.id ? { ...now, at } : now)),
      () => {},
    )
  }, [needsTime])

  return {
    line,
    isDecided,
    begin: (id: string) => setLine({ id, count: 0, hasPill: false }),
    dismiss: () => setLine(undefined),
  }
}
