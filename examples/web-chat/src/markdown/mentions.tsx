import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type MentionedNames, splitMentions } from './split-mentions.ts'

/** Of a message that mentions no user: always the same, so that nothing is rendered again. */
export const NO_MENTIONS: MentionedNames = new Map()

/** The mentions of the message around a text. */
export const MentionsContext = createContext<MentionedNames>(NO_MENTIONS)

/** A text with the mentions in it marked: those that the service has found, not what merely looks like one. */
export function MentionText({ text }: { text: string }) {
  const names = useContext(MentionsContext)
  if (names.size === 0 || !text.includes('@')) return <>{text}</>
  return (
    <>
      {splitMentions(text, names).map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          <span key={index} class="mention" data-self={part.isSelf}>
            {part.text}
          </span>
        ),
      )}
    </>
  )
}
