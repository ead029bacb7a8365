import { hostBehind, safeHref } from './links.ts'
import { InLink, MentionText } from './mention-text.tsx'
import { type Inline, textOf } from './tokens.ts'

/** The lines of a block of Markdown. HTML is shown as its text. */
export function Lines({ inlines }: { inlines: readonly Inline[] }) {
  return (
    <>
      {inlines.map((inline, index) =>
        typeof inline === 'string' ? (
          <MentionText key={index} text={inline} />
        ) : (
          <InlineView key={index} inline={inline} />
        ),
      )}
    </>
  )
}

function InlineView({ inline }: { inline: Exclude<Inline, string> }) {
  switch (inline.type) {
    case 'code':
      return <code>{inline.text}</code>
    case 'html':
      return <>{inline.text}</>
    case 'break':
      // One that was only typed as well: a message is not set in lines of another length.
      return <br />
    case 'link':
      return (
        <Link href={inline.href} text={textOf(inline.inlines)}>
          <InLink.Provider value={true}>
            <Lines inlines={inline.inlines} />
          </InLink.Provider>
        </Link>
      )
    case 'image': {
      // Loading it would tell its host who reads the message.
      const text = textOf(inline.inlines) || inline.href
      return (
        <Link href={inline.href} text={text}>
          {text}
        </Link>
      )
    }
    default: {
      const Mark = inline.type
      return (
        <Mark>
          <Lines inlines={inline.inlines} />
        </Mark>
      )
    }
  }
}

/** A link, if it leads where links may lead; else its text. */
function Link({ href, text, children }: { href: string; text: string; children: preact.ComponentChildren }) {
  const address = safeHref(href)
  if (address === undefined) return <>{children}</>
  const host = hostBehind(address, text)
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {children}
      {host !== undefined && (
        <small>
          {' '}
          <bdi>{host}</bdi>
        </small>
      )}
    </a>
  )
}
