import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { AppContext } from '../app/context.ts'
import { openMention } from '../people/open-mention.ts'
import { MentionsContext } from './mentions.tsx'
import { type Mention, splitMentions } from './split-mentions.ts'

/** Mentions everyone, who have no card. */
const EVERYONE = '@all'

/** Whether a text is that of a link: nothing else in it is clicked. */
export const InLink = createContext(false)

/** A text with the mentions in it marked: those that the service has found, not what merely looks like one. */
export function MentionText({ text }: { text: string }) {
  const names = useContext(MentionsContext)
  if (names.size === 0 || !text.includes('@')) return <>{text}</>
  return (
    <>
      {splitMentions(text, names).map((part, index) =>
        typeof part === 'string' ? part : <MentionedName key={index} {...part} />,
      )}
    </>
  )
}

/** A mention, which opens the card of the person. */
function MentionedName({ text, isSelf }: Mention) {
  const app = useContext(AppContext)
  const isInLink = useContext(InLink)
  if (!app || isInLink || text.toLowerCase() === EVERYONE)
    return (
      <span class="mention" data-self={isSelf}>
        {text}
      </span>
    )
  return (
    // biome-ignore lint/a11y/useSemanticElements: Not every browser copies the text of a button with the text around it.
    <span
      class="mention"
      data-self={isSelf}
      role="button"
      tabIndex={0}
      aria-haspopup="dialog"
      onClick={() => openMention(app, text.slice(1))}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        // The message has keys of its own.
        event.stopPropagation()
        openMention(app, text.slice(1))
      }}
    >
      {text}
    </span>
  )
}
