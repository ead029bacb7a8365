import type { SearchExcerpt, SearchResult } from 'chat-server/client'

/** The excerpt of a message, with what was found marked. */
export function FoundText({ result }: { result: SearchResult }) {
  const [excerpt] = result.excerpts
  if (!excerpt) return <>{result.message.content.slice(0, 200)}</>
  return <MarkedText {...excerpt} />
}

/** A text with parts of it marked. */
export function MarkedText({ text, ranges }: Pick<SearchExcerpt, 'text' | 'ranges'>) {
  const parts = ranges.map(([start, end], n) => (
    <>
      {text.slice(ranges[n - 1]?.[1] ?? 0, start)}
      <mark>{text.slice(start, end)}</mark>
    </>
  ))
  return (
    <>
      {parts}
      {text.slice(ranges.at(-1)?.[1] ?? 0)}
    </>
  )
}
