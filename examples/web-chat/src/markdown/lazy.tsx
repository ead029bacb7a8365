import { signal } from '@preact/signals'
import { Boundary } from '../parts/boundary.tsx'
import type { Markdown as Loaded } from './markdown.tsx'
import { PlainText } from './plain-text.tsx'

const loaded = signal<typeof Loaded>()

/** Begins to load the parser, which no screen before the chat needs. */
export function loadMarkdown(): void {
  // Without it, what is written is readable, too.
  import('./markdown.tsx').then(
    ({ Markdown }) => {
      loaded.value = Markdown
    },
    () => {},
  )
}

/** Markdown as elements; as it was typed, until the parser is there, and where it fails. */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const Parsed = loaded.value
  const typed = <PlainText text={text} />
  if (!Parsed) return typed
  return (
    <Boundary subject={text} fallback={typed}>
      <Parsed text={text} isGrowing={isGrowing} />
    </Boundary>
  )
}
