import { useEffect, useState } from 'preact/hooks'

/** How long is waited for another letter before the service is asked. */
const TYPING_MS = 200

/** How short what is typed may be: the service has no shorter beginnings of names. */
const MIN_LETTERS = 2

/** What was found last, while the next is looked for. */
export interface Found<Item> {
  items: readonly Item[]
  isLoading: boolean
  error?: unknown
}

/** How the service is asked, and which of what was found is shown until it answers again. */
interface Lookup<Item> {
  read: (query: string, signal: AbortSignal) => Promise<readonly Item[]>
  stays: (item: Item, query: string) => boolean
}

/** What the service finds by what is typed. */
export function useFound<Item>(typed: string, { read, stays }: Lookup<Item>): Found<Item> {
  const [found, setFound] = useState<{ query: string; items: readonly Item[]; error?: unknown }>({
    query: '',
    items: [],
  })
  const query = typed.trim()
  const isAsked = [...query].length >= MIN_LETTERS
  useEffect(() => {
    if (!isAsked) return setFound({ query, items: [] })
    const abort = new AbortController()
    const timer = setTimeout(() => {
      read(query, abort.signal).then(
        (items) => setFound({ query, items }),
        (error) => abort.signal.aborted || setFound({ query, items: [], error }),
      )
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [query])
  if (found.query === query) return { items: found.items, isLoading: false, error: found.error }
  return { items: isAsked ? found.items.filter((item) => stays(item, query)) : [], isLoading: isAsked }
}
