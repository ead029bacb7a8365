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
  const [found, setFound] = useState<Found<Item>>({ items: [], isLoading: false })
  const query = typed.trim()
  useEffect(() => {
    if ([...query].length < MIN_LETTERS) return setFound({ items: [], isLoading: false })
    const abort = new AbortController()
    setFound(({ items }) => ({ items: items.filter((item) => stays(item, query)), isLoading: true }))
    const timer = setTimeout(() => {
      read(query, abort.signal).then(
        (items) => setFound({ items, isLoading: false }),
        (error) => abort.signal.aborted || setFound({ items: [], isLoading: false, error }),
      )
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [query])
  return found
}
