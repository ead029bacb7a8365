import type { ElementContent } from 'hast'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { colorsOf } from './colors.ts'

/** Longer code stays plain: while it is streamed, it is read again with each part. */
const MAX_LENGTH = 20_000

/** A code, and its parts. */
interface Colored {
  text: string
  name: string
  parts: readonly ElementContent[]
}

/**
 * The text of a code block, in colors once these are found. They change nothing else, so nothing moves then. While a text
 * grows, what is new of it is plain for a moment.
 *
 * @param language as the writer named it, with anything behind it
 */
export function CodeText({ text, language }: { text: string; language: string | undefined }) {
  const name = /^[^\s{,]+/.exec(language ?? '')?.[0].toLowerCase()
  const [colored, setColored] = useState<Colored>()
  useEffect(() => {
    if (name === undefined || text.length > MAX_LENGTH) return
    const shown = new AbortController()
    void colorsOf(text, name, shown.signal).then((parts) => parts && setColored({ text, name, parts }))
    return () => shown.abort()
  }, [text, name])
  if (!colored || colored.name !== name || !text.startsWith(colored.text)) return <code>{text}</code>
  return (
    <code>
      {elementsOf(colored.parts)}
      {text.slice(colored.text.length)}
    </code>
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
