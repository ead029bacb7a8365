import type { SearchExcerpt, SearchResult } from 'chat-server/client'
import { plainExcerpt, plainOf } from '../markdown/plain.ts'

/** The excerpt of a message, with what was found marked. */
export function FoundText({ result }: { result: SearchResult }) {
  const [excerpt] = result.excerpts
  if (!excerpt) return <>{plainOf(result.message.content.slice(0, 200))}</>
  return <MarkedText {...excerpt} />
}

/** An excerpt without the marks of its Markdown, with what was found in it marked. */
export function MarkedText(excerpt: Pick<SearchExcerpt, 'text' | 'ranges'>) {
  const { text, ranges } = plainExcerpt(excerpt)
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
