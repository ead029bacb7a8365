import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { roomTexts } from '../texts/room.ts'
import type { Row } from './rows.ts'

interface FirstUnreadProps {
  scroller: RefObject<HTMLElement | null>
  rows: readonly Row[]
  /** The id of the first unread message; without one, none is known. */
  first: string | undefined
  /** How many messages are unread: where the thread is not read to its end, which ones is not known yet. */
  count: number
  has_more: boolean
  loadMore: () => Promise<void>
}

/** Leads to the first unread message, until that has been in view. */
export function FirstUnread({ scroller, rows, first, count, has_more, loadMore }: FirstUnreadProps) {
  const [state, setState] = useState<{ id: string; at: 'seen' | 'above' | 'below' }>()
  const [isWanted, setWanted] = useState(false)

  useEffect(() => {
    const row = rowOf(scroller, first)
    if (!row || first === undefined || (state?.id === first && state.at === 'seen')) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        const { isIntersecting, boundingClientRect, rootBounds } = entry!
        const isAbove = boundingClientRect.top < (rootBounds?.top ?? 0)
        setState({ id: first, at: isIntersecting ? 'seen' : isAbove ? 'above' : 'below' })
      },
      { root: scroller.current },
    )
    observer.observe(row)
    return () => observer.disconnect()
  }, [first, state?.at, rows.length])

  // Which message it is turns out when all of them are read.
  useEffect(() => {
    if (!isWanted) return
    if (has_more) return void loadMore()
    const row = rowOf(scroller, first)
    if (!row) return
    setWanted(false)
    show(row)
  }, [isWanted, has_more, rows.length, first])

  const isAway = has_more ? count > 0 : state !== undefined && state.id === first && state.at !== 'seen'
  if (!isAway) return null
  return (
    <div class="jump" data-to={has_more ? 'below' : state?.at}>
      <button type="button" disabled={isWanted} onClick={() => setWanted(true)}>
        <Icon name="jump" />
        {roomTexts.value.thread.first_unread}
      </button>
    </div>
  )
}

function rowOf(scroller: RefObject<HTMLElement | null>, id: string | undefined): HTMLElement | null {
  return id === undefined ? null : (scroller.current?.querySelector<HTMLElement>(`[data-message-id="${id}"]`) ?? null)
}

function show(row: HTMLElement): void {
  row.scrollIntoView({ block: 'start' })
  row.focus({ preventScroll: true })
  // Rows that had never been rendered have a guessed height until now.
  requestAnimationFrame(() => row.scrollIntoView({ block: 'start' }))
}
