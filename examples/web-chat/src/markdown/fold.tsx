import type { VNode } from 'preact'
import { useEffect, useReducer, useRef } from 'preact/hooks'
import { afterFrame } from '../parts/after-frame.ts'
import { texts } from '../texts/texts.ts'
import { hasSteps, spendFrame } from './frame.ts'
import { foldedCount, type Piece } from './piece.ts'

/** What is shown of a message now. */
interface Fold<Part> {
  parts: readonly Part[]
  /** Whether more follows in the next frames. */
  isBusy: boolean
  /** Shows the rest of a message with very many lines, and hides it. */
  button: VNode | undefined
}

/**
 * The pieces of a message, one in a frame: however long it is, the page responds. Beyond `MAX_LINES` the reader asks for
 * the rest; what has grown while it was read stays.
 *
 * @param text of the message: another one, which is not the same one grown, begins anew
 */
export function useFold<Part>(text: string, pieces: readonly Piece<Part>[], isGrowing: boolean): Fold<Part> {
  const state = useRef({ text, shown: 0, isOpen: false })
  const [turn, render] = useReducer((turns: number, _: undefined) => turns + 1, 0)
  const { current } = state
  if (!text.startsWith(current.text)) Object.assign(current, { shown: 0, isOpen: false })
  current.text = text
  current.isOpen ||= isGrowing
  const folded = foldedCount(pieces)
  const limit = current.isOpen ? pieces.length : folded
  if (current.shown === 0) show(1)
  const count = Math.min(current.shown, limit)
  useEffect(() => {
    if (count >= limit) return
    return afterFrame(() => {
      if (hasSteps()) show(count + 1)
      render(undefined)
    })
  }, [count, limit, turn])

  function show(next: number): void {
    current.shown = next
    spendFrame({ weight: pieces[next - 1]?.weight ?? 0 })
  }

  function toggle(): void {
    current.isOpen = !current.isOpen
    current.shown = Math.min(count, folded)
    render(undefined)
  }

  const { show_whole, show_less } = texts.value.messages
  const button =
    folded < pieces.length && !isGrowing ? (
      <button type="button" class="unfold link" aria-expanded={current.isOpen} onClick={toggle}>
        {current.isOpen ? show_less : show_whole}
      </button>
    ) : undefined
  return { parts: pieces.slice(0, count).flatMap(({ parts }) => parts), isBusy: count < limit, button }
}
