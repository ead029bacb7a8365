import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Row } from './rows.ts'

interface Wanted {
  scroller: RefObject<HTMLElement | null>
  /** The message of the address; without one, nothing is looked for. */
  message_id: string | undefined
  rows: readonly Row[]
  /** Whether all of them are rendered. */
  isReady: boolean
  has_more: boolean
  loadMore: () => Promise<void>
}

/** Brings the message of the address into view, and the focus to it; reads on until it is there. @returns whether it is missing */
export function useShowTarget({ scroller, message_id, rows, isReady, has_more, loadMore }: Wanted): boolean {
  const [shown, setShown] = useState<string>()
  const isThere = message_id !== undefined && rows.some(({ message }) => message.id === message_id)
  const isMissing = message_id !== undefined && isReady && !isThere && !has_more
  useEffect(() => {
    if (message_id === undefined) return setShown(undefined)
    if (!isReady || shown === message_id) return
    if (!isThere) {
      if (has_more) void loadMore()
      return
    }
    setShown(message_id)
    const row = scroller.current?.querySelector<HTMLElement>(`[data-message-id="${message_id}"]`)
    const show = () => row?.scrollIntoView({ block: 'center' })
    show()
    row?.focus({ preventScroll: true })
    // Rows that had never been rendered have a guessed height until now.
    requestAnimationFrame(show)
  }, [message_id, isReady, isThere, rows.length])
  return isMissing
}
