import { useMemo, useRef } from 'preact/hooks'
import { countLines, cutText, MAX_WEIGHT, weigh } from './cut-text.ts'
import { useFold } from './fold.tsx'
import { useWaiting } from './frame.ts'
import type { Piece } from './piece.ts'

/** What is shown of a long text that waits for a frame. */
const WAITING_WEIGHT = MAX_WEIGHT / 20

/** A text as it was typed. */
export function PlainText({ text }: { text: string }) {
  const shown = useRef<string>(undefined)
  if (!useWaiting(text !== shown.current)) shown.current = text
  return shown.current === undefined ? <WaitingText text={text} /> : <WholeText text={shown.current} />
}

/** How a text begins, as it was typed, until there is time for all of it. */
export function WaitingText({ text }: { text: string }) {
  const beginning = useMemo(() => cutText(text, WAITING_WEIGHT)[0], [text])
  return (
    <div class="markdown plain" dir="auto">
      {beginning}
    </div>
  )
}

function WholeText({ text }: { text: string }) {
  const pieces = useMemo(() => cutText(text).map(toPiece), [text])
  const { parts, isBusy, button } = useFold(text, pieces, false)
  return (
    <div class="markdown plain" dir="auto" aria-busy={isBusy || undefined}>
      {pieces.length === 1 ? text : parts.map(toView)}
      {button}
    </div>
  )
}

function toView(part: string, index: number) {
  return (
    <div key={index} class={index > 0 ? 'continued' : undefined}>
      {part}
    </div>
  )
}

function toPiece(part: string): Piece<string> {
  return { parts: [part], weight: weigh(part), lines: countLines(part) }
}
