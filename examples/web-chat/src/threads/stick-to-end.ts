import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

/** How near to the end counts as being there, in pixels. */
const NEAR = 80

/**
 * Shows the end of a thread when it is opened, and stays there while it grows: an answer that is written runs upwards. Who
 * has scrolled away stays where they are, but their own post is brought into view. A thread that is not read to its end is
 * shown from its beginning, and one that is opened for a message where that is.
 *
 * @param own the id of an own post that is on its way, once it has a row
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  isReady: boolean,
  has_more: boolean,
  hasTarget: boolean,
  own: string | undefined,
): void {
  const isAtEnd = useRef(!hasTarget)
  const isWhole = useRef(true)
  if (has_more) isAtEnd.current = false
  isWhole.current = !has_more
  useEffect(() => {
    const { current } = scroller
    if (!current) return
    const toEnd = () => isAtEnd.current && current.scrollTo(0, current.scrollHeight)
    let top = current.scrollTop
    const onScroll = () => {
      // Of scrolling to the end it hears when more has been rendered below: only moving up leads away.
      const hasMovedUp = current.scrollTop < top
      top = current.scrollTop
      const isNear = current.scrollHeight - top - current.clientHeight < NEAR
      isAtEnd.current = isWhole.current && (isNear || (isAtEnd.current && !hasMovedUp))
    }
    // The rest of a long message is read from where it begins.
    const onClick = ({ target }: Event) => {
      if ((target as Element).closest('.unfold')) isAtEnd.current = false
    }
    const observer = new ResizeObserver(toEnd)
    for (const child of current.children) observer.observe(child)
    observer.observe(current)
    current.addEventListener('scroll', onScroll, { passive: true })
    current.addEventListener('click', onClick)
    return () => {
      observer.disconnect()
      current.removeEventListener('click', onClick)
      current.removeEventListener('scroll', onScroll)
    }
  }, [isReady])
  useLayoutEffect(() => {
    if (own === undefined) return
    scroller.current?.querySelector(`[data-message-id="${own}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [own])
}
