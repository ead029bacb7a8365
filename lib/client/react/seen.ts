import { useEffect, useState } from 'react'
import { refuseUnknown } from '../options.ts'
import type { TimelineStoreMessage } from '../store/index.ts'
import { SEEN_OPTIONS, type SeenOptions, seenOf } from '../store/seen.ts'
import { useChatStore } from './context.ts'

/**
 * Marks a message of a window as read when the user has seen its end.
 *
 * @returns the `ref` of the element that shows it
 */
export function useSeen(message: TimelineStoreMessage, options: SeenOptions = {}): (element: Element | null) => void {
  refuseUnknown('useSeen', options, SEEN_OPTIONS)
  const { observe } = seenOf(useChatStore())
  const [element, setElement] = useState<Element | null>(null)
  // What changes in a message does not end that it is in view.
  useEffect(() => (element ? observe(element, message, options) : undefined), [observe, element, message.id])
  useEffect(() => void (element && observe(element, message, options)), [observe, element, message, options.view])
  return setElement
}
