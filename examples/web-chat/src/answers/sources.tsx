import type { Message } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { answersTexts } from '../texts/answers.ts'
import { type Source, sourcesOf } from './sources-of.ts'

/** How many are shown at first. */
const MAX_SHOWN = 8

/** What an answer refers to, numbered. */
export function Sources({ parts }: Pick<Message, 'parts'>) {
  const [isWhole, setWhole] = useState(false)
  const { sources, all_sources } = answersTexts.value
  const all = sourcesOf(parts)
  if (all.length === 0) return null
  const shown = isWhole ? all : all.slice(0, MAX_SHOWN)
  return (
    <div class="sources">
      <ol aria-label={sources}>
        {shown.map((source) => (
          <li key={source.key}>
            <SourceView source={source} />
          </li>
        ))}
      </ol>
      {shown.length < all.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {all_sources(all.length)}
        </button>
      )}
    </div>
  )
}

function SourceView({ source: { href, host, title } }: { source: Source }) {
  if (href === undefined) return <bdi>{title}</bdi>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{title}</bdi>{' '}
      {title !== host && (
        <small>
          <bdi>{host}</bdi>
        </small>
      )}
    </a>
  )
}
