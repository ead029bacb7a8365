import { Component } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { afterFrame } from '../parts/after-frame.ts'
import { BlockView } from './blocks.tsx'
import { type Document, parseDocument, type Shown } from './document.ts'
import { MentionsContext } from './mentions.tsx'
import { PlainText } from './plain-text.tsx'
import { hasMarks, type MentionedNames } from './split-mentions.ts'

/** How many steps messages may take in a frame; the one that exceeds it goes on, and the next ones wait for another. */
const MAX_FRAME_STEPS = 8000

let frameSteps = 0

/**
 * Markdown as elements. No HTML is made: HTML in the text is shown as the text it is. While a text grows, only its last
 * block is rendered again, and what has a link by a reference that is another one now. One for which the frame has no time
 * is shown as before, or as it was typed.
 */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const parsed = useRef<Document>(undefined)
  const shown = useRef('')
  const [turn, setTurn] = useState(0)
  const mentioned = useContext(MentionsContext)
  // Others change nothing of how a text is parsed.
  const names = hasMarks(mentioned) ? mentioned : undefined
  const parsedWith = useRef<MentionedNames>(undefined)
  const isOutdated = text !== shown.current || names !== parsedWith.current
  const isWaiting = isOutdated && frameSteps >= MAX_FRAME_STEPS
  useEffect(() => (isWaiting ? afterFrame(() => setTurn(turn + 1)) : undefined), [isWaiting, text, turn])
  if (text === '') return null
  if (!isWaiting && isOutdated) {
    parsed.current = parseDocument(text, names === parsedWith.current ? parsed.current : undefined, names)
    shown.current = text
    parsedWith.current = names
    spendFrame(parsed.current.cost)
  }
  if (!parsed.current) return <PlainText text={text} />
  return (
    <div class="markdown" dir="auto" data-growing={isGrowing}>
      {parsed.current.shown.map((part, index) => part.block && <PartView key={index} part={part} />)}
    </div>
  )
}

function spendFrame(steps: number): void {
  if (frameSteps === 0)
    afterFrame(() => {
      frameSteps = 0
    })
  // Each takes a step at least: the first one of a frame is what ends it.
  frameSteps += 1 + steps
}

class PartView extends Component<{ part: Shown }> {
  override shouldComponentUpdate({ part }: { part: Shown }): boolean {
    return part !== this.props.part
  }

  render() {
    const { block, text } = this.props.part
    if (block?.type === 'plain') return <p class="plain">{text}</p>
    return block && <BlockView block={block} />
  }
}
