import { signal } from '@preact/signals'
import type { Markdown as Loaded } from './markdown.tsx'

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

/** Markdown as elements; as it was typed, until the parser is there. */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const Parsed = loaded.value
  if (Parsed) return <Parsed text={text} isGrowing={isGrowing} />
  return (
    <div class="markdown plain" dir="auto">
      {text}
    </div>
  )
}
