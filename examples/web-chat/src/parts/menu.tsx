import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The distance of a panel to its button and to the edges of the window, in pixels. */
const GAP = 6

/** What may move the button. */
const MOVES = ['scroll', 'resize']

interface MenuProps {
  label: string
  /** Of the button. */
  class?: string
  button: ComponentChildren
  children: (close: () => void) => ComponentChildren
}

/**
 * A button that opens a small panel beside it, or a sheet for a finger. Escape, a click elsewhere and a choice close it, and so does
 * scrolling the button out of view. It stays beside the button otherwise: on a phone, the keyboard that leaves with the focus changes the
 * size of the window, and what arrives scrolls the thread.
 */
export function Menu({ label, class: kind = 'icon-button', button, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    menu.current?.querySelector('button')?.focus()
  }
  useLayoutEffect(() => {
    if (!isOpen) return
    const leave = ({ target }: Event) => (target instanceof Node && menu.current?.contains(target)) || setOpen(false)
    const follow = ({ target }: Event) => {
      if (target === panel.current || isSheet()) return
      if (isInView(menu.current!)) place(panel.current!, menu.current!)
      else setOpen(false)
    }
    addEventListener('pointerdown', leave, { capture: true, passive: true })
    for (const event of MOVES) addEventListener(event, follow, { capture: true, passive: true })
    // Above everything: what scrolls would cut it off.
    panel.current!.showPopover()
    place(panel.current!, menu.current!)
    panel.current!.querySelector<HTMLElement>('button, a')?.focus({ preventScroll: true })
    return () => {
      removeEventListener('pointerdown', leave, { capture: true })
      for (const event of MOVES) removeEventListener(event, follow, { capture: true })
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
        class={kind}
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

/** Whether what scrolls still shows the button. */
function isInView(button: HTMLElement): boolean {
  const { top, bottom } = button.getBoundingClientRect()
  const { top: above = 0, bottom: below = innerHeight } = button.closest('.scroll')?.getBoundingClientRect() ?? {}
  return bottom > above && top < below && bottom > 0 && top < innerHeight
}

/** Whether it is at the end of the screen, wherever the button is: for a finger. */
const isSheet = () => matchMedia('(pointer: coarse)').matches

/** Below the button, or above it where there is more room; within the window. */
function place(panel: HTMLElement, button: HTMLElement): void {
  if (isSheet()) return
  const { top, bottom, left, right } = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = panel
  const isRtl = getComputedStyle(button).direction === 'rtl'
  const x = isRtl ? left : right - width
  const isBelow = bottom + GAP + height <= innerHeight || top < innerHeight - bottom
  panel.style.left = `${Math.max(GAP, Math.min(x, innerWidth - width - GAP))}px`
  panel.style.top = `${Math.max(GAP, isBelow ? bottom + GAP : top - GAP - height)}px`
}
