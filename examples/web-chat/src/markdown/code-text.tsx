import { signal } from '@preact/signals'
import type { ElementContent } from 'hast'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { highlight as Highlight } from './highlight.ts'

/** Longer code stays plain: while it is streamed, it is read again with each part. */
const MAX_LENGTH = 20_000

const loaded = signal<typeof Highlight>()

/**
 * The text of a code block, in colors once these are loaded. They change nothing else, so nothing moves then.
 *
 * @param language as the writer named it, with anything behind it
 */
export function CodeText({ text, language }: { text: string; language: string | undefined }) {
  const name = /^[^\s{,]+/.exec(language ?? '')?.[0].toLowerCase()
  const highlight = loaded.value
  useEffect(() => {
    if (name !== undefined) load()
  }, [name])
  const parts = useMemo(
    () => (name !== undefined && text.length <= MAX_LENGTH ? highlight?.(text, name) : undefined),
    [highlight, text, name],
  )
  return <code>{parts ? elementsOf(parts) : text}</code>
}

/** After a failure it is loaded with the next block that is shown. */
function load(): void {
  if (loaded.peek()) return
  import('./highlight.ts').then(
    ({ highlight }) => {
      loaded.value = highlight
    },
    () => {},
  )
}

function elementsOf(parts: readonly ElementContent[]): ComponentChildren {
  return parts.map((part, index) => {
    if (part.type === 'text') return part.value
    if (part.type !== 'element') return null
    return (
      <span key={index} class={(part.properties.className as string[]).join(' ')}>
        {elementsOf(part.children)}
      </span>
    )
  })
}
