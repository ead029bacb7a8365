import { Component } from 'preact'
import { useContext, useMemo, useRef } from 'preact/hooks'
import { BlockView } from './blocks.tsx'
import { type Document, parseDocument } from './document.ts'
import { useFold } from './fold.tsx'
import { spendFrame, useWaiting } from './frame.ts'
import { MentionsContext } from './mentions.tsx'
import { piecesOf, type ShownPiece } from './pieces.ts'
import { WaitingText } from './plain-text.tsx'
import { hasMarks, type MentionedNames } from './split-mentions.ts'

/**
 * Markdown as elements. No HTML is made: HTML in the text is shown as the text it is. While a text grows, only its last
 * block is rendered again, and what has a link by a reference that is another one now. One for which the frame has no time
 * is shown as before, or how it begins, as it was typed.
 */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const parsed = useRef<Document>(undefined)
  const shown = useRef('')
  const mentioned = useContext(MentionsContext)
  // Others change nothing of how a text is parsed.
  const names = hasMarks(mentioned) ? mentioned : undefined
  const parsedWith = useRef<MentionedNames>(undefined)
  const isOutdated = text !== shown.current || names !== parsedWith.current
  const isWaiting = useWaiting(isOutdated)
  if (text === '') return null
  if (!isWaiting && isOutdated) {
    parsed.current = parseDocument(text, names === parsedWith.current ? parsed.current : undefined, names)
    shown.current = text
    parsedWith.current = names
    spendFrame({ steps: parsed.current.cost })
  }
  if (!parsed.current) return <WaitingText text={text} />
  return <DocumentView document={parsed.current} isGrowing={isGrowing} />
}

function DocumentView({ document, isGrowing }: { document: Document; isGrowing: boolean }) {
  const pieces = useMemo(() => piecesOf(document.shown), [document])
  const { parts, isBusy, button } = useFold(document.text, pieces, isGrowing)
  return (
    <div class="markdown" dir="auto" data-growing={isGrowing} aria-busy={isBusy || undefined}>
      {parts.map((part, index) => part.block && <PartView key={index} part={part} />)}
      {button}
    </div>
  )
}

class PartView extends Component<{ part: ShownPiece }> {
  override shouldComponentUpdate({ part }: { part: ShownPiece }): boolean {
    const { block, text } = this.props.part
    // What is cut of a text that grows is cut as before.
    const isSamePlain = block?.type === 'plain' && part.block?.type === 'plain' && part.text === text
    return part !== this.props.part && !isSamePlain
  }

  render() {
    const { block, text, isContinued } = this.props.part
    const view = block?.type === 'plain' ? <p class="plain">{text}</p> : block && <BlockView block={block} />
    return isContinued ? <div class="continued">{view}</div> : view
  }
}
