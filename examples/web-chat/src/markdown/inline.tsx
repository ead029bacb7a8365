import type { Token } from 'marked'
import { decodeEntities } from './entities.ts'
import { safeHref } from './links.ts'
import { MentionText } from './mentions.tsx'

/** The parts of a line of Markdown. What is unknown, HTML above all, is shown as its text. */
export function Inline({ tokens = [] }: { tokens?: readonly Token[] | undefined }) {
  return (
    <>
      {tokens.map((token, index) => (
        <InlineToken key={index} token={token} />
      ))}
    </>
  )
}

function InlineToken({ token }: { token: Token }) {
  switch (token.type) {
    case 'strong':
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      )
    case 'del':
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      )
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return (
        <Link href={token.href}>
          <Inline tokens={token.tokens} />
        </Link>
      )
    case 'image':
      // Loading it would tell its host who reads the message.
      return <Link href={token.href}>{decodeEntities(token.text || token.href)}</Link>
    case 'escape':
      return token.text
    case 'text':
      return token.tokens ? <Inline tokens={token.tokens} /> : <MentionText text={decodeEntities(token.text)} />
    default:
      return token.raw
  }
}

/** A link, if it leads where links may lead; else its text. */
function Link({ href, children }: { href: string; children: preact.ComponentChildren }) {
  const address = safeHref(href)
  if (address === undefined) return <>{children}</>
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}
