import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'

/** Makes a field as high as its text, up to what the style allows: also when its width changes, or it is shown after all. */
export function useFit(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => fit(field.current!), [text])
  useEffect(() => {
    const { current } = field
    let width = current!.offsetWidth
    const observer = new ResizeObserver(() => {
      if (width === current!.offsetWidth) return
      width = current!.offsetWidth
      fit(current!)
    })
    observer.observe(current!)
    return () => observer.disconnect()
  }, [])
}

/** On a phone, the pane behind the open one is not rendered: nothing in it has a height then. */
function fit(field: HTMLTextAreaElement): void {
  field.style.height = 'auto'
  if (field.offsetWidth === 0) return
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`
}
