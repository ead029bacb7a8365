import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** A button that opens a small panel beside it. Escape, a click elsewhere and a choice close it. */
export function Menu({
  label,
  button,
  children,
  side = 'end',
}: {
  label: string
  button: ComponentChildren
  children: (close: () => void) => ComponentChildren
  side?: 'start' | 'end'
}) {
  const [isOpen, setOpen] = useState(false)
  const ref = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    ref.current?.querySelector('button')?.focus()
  }
  useEffect(() => {
    if (!isOpen) return
    const onPointer = (event: Event) => ref.current?.contains(event.target as Node) || setOpen(false)
    addEventListener('pointerdown', onPointer)
    ref.current?.querySelector<HTMLElement>('.panel button')?.focus()
    return () => removeEventListener('pointerdown', onPointer)
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return
    event.stopPropagation()
    close()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is for what is inside.
    <div class="menu" ref={ref} onKeyDown={onKeyDown}>
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
        <div class="panel" data-side={side}>
          {children(close)}
        </div>
      )}
    </div>
  )
}
