import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** How many stand beside each other: fewer where a finger points. */
const COLUMNS = matchMedia('(pointer: coarse)').matches ? 6 : 8

/** Lines that are rendered at a time: more when the last of them comes into view. */
const LINES = 12

interface EmojiGridProps {
  grid: RefObject<HTMLDivElement | null>
  label: string
  items: readonly { sign: string; name: string }[]
  onPick: (sign: string) => void
  /** Called for the way up from the first line. */
  onLeave: () => void
}

/** Emoji in lines: one stop of the Tab key, within which arrows, Home and End lead from one to another. */
export function EmojiGrid({ grid, label, items, onPick, onLeave }: EmojiGridProps) {
  const [at, setAt] = useState(0)
  const [count, setCount] = useState(LINES)
  const moves = useRef(false)
  const lines = Math.min(count, Math.ceil(items.length / COLUMNS))
  useLayoutEffect(() => {
    if (moves.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
    moves.current = false
  }, [at])

  function move(to: number): void {
    moves.current = true
    setCount(Math.max(count, Math.floor(to / COLUMNS) + 2))
    setAt(to)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key, currentTarget, ctrlKey, metaKey, altKey } = event
    if (ctrlKey || metaKey || altKey) return
    const forward = getComputedStyle(currentTarget as Element).direction === 'rtl' ? -1 : 1
    const last = items.length - 1
    if (key === 'ArrowUp' && at < COLUMNS) onLeave()
    else if (key === 'ArrowUp') move(at - COLUMNS)
    else if (key === 'ArrowDown') move(Math.min(last, at + COLUMNS))
    else if (key === 'ArrowRight') move(Math.max(0, Math.min(last, at + forward)))
    else if (key === 'ArrowLeft') move(Math.max(0, Math.min(last, at - forward)))
    else if (key === 'Home') move(0)
    else if (key === 'End') move(last)
    else return
    event.preventDefault()
  }

  return (
    <div
      ref={grid}
      class="emoji-grid"
      role="listbox"
      tabIndex={-1}
      aria-label={label}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) =>
        scrollHeight - scrollTop - clientHeight < clientHeight && setCount(lines + LINES)
      }
    >
      {items.slice(0, lines * COLUMNS).map(({ sign, name }, index) => (
        <button
          key={index}
          type="button"
          role="option"
          aria-selected={index === at}
          aria-label={name}
          title={name}
          tabIndex={index === at ? 0 : -1}
          onFocus={() => setAt(index)}
          onClick={() => onPick(sign)}
        >
          {sign}
        </button>
      ))}
    </div>
  )
}
