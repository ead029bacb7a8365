import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The distance of a panel to its button and to the edges of the window, in pixels. */
const GAP = 6

interface MenuProps {
  label: string
  button: ComponentChildren
  children: (close: () => void) => ComponentChildren
}

/** A button that opens a small panel beside it. Escape, scrolling, a click elsewhere and a choice close it. */
export function Menu({ label, button, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    menu.current?.querySelector('button')?.focus()
  }
  useLayoutEffect(() => {
    if (!isOpen) return
    // A change of the size happens to the window, which is no node.
    const leave = ({ target }: Event) => (target instanceof Node && menu.current?.contains(target)) || setOpen(false)
    const events = ['pointerdown', 'scroll', 'resize']
    for (const event of events) addEventListener(event, leave, { capture: true, passive: true })
    // Above everything: what scrolls would cut it off.
    panel.current!.showPopover()
    place(panel.current!, menu.current!)
    panel.current!.querySelector('button')?.focus()
    return () => {
      for (const event of events) removeEventListener(event, leave, { capture: true })
    }
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return
    event.stopPropagation()
    close()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is for what is inside.
    <div class="menu" ref={menu} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div class="panel" popover="manual" ref={panel}>
          {children(close)}
        </div>
      )}
    </div>
  )
}

/** Below the button, or above it where there is more room; within the window. */
function place(panel: HTMLElement, button: HTMLElement): void {
  const { top, bottom, left, right } = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = panel
  const isRtl = getComputedStyle(button).direction === 'rtl'
  const x = isRtl ? left : right - width
  const isBelow = bottom + GAP + height <= innerHeight || top < innerHeight - bottom
  panel.style.left = `${Math.max(GAP, Math.min(x, innerWidth - width - GAP))}px`
  panel.style.top = `${Math.max(GAP, isBelow ? bottom + GAP : top - GAP - height)}px`
}
