import { useEffect, useState } from 'preact/hooks'
import { administrationTexts } from '../texts/settings.ts'
import { ErrorNote } from './error-note.tsx'
import { Waiting } from './waiting.tsx'

/** A part of a list, and where the next one begins. */
export interface Page<Item> {
  items: readonly Item[]
  next_after?: string | undefined
}

/** A list that is read page by page: at first, when `keys` change, and on demand. */
export interface Paged<Item> {
  items: readonly Item[] | undefined
  error: unknown
  isLoading: boolean
  hasMore: boolean
  more(): void
  reload(): void
}

export function usePages<Item>(
  read: (after: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  keys: readonly unknown[] = [],
): Paged<Item> {
  const [pages, setPages] = useState<Page<Item>>()
  const [error, setError] = useState<unknown>()
  const [wanted, setWanted] = useState<{ after?: string | undefined; round: number }>({ round: 0 })
  const [isLoading, setLoading] = useState(true)
  useEffect(() => setWanted(({ round }) => ({ round: round + 1 })), keys)
  useEffect(() => {
    const abort = new AbortController()
    setLoading(true)
    setError(undefined)
    read(wanted.after, abort.signal)
      .then(
        (page) => {
          if (abort.signal.aborted) return
          setPages((before) => (wanted.after && before ? { ...page, items: [...before.items, ...page.items] } : page))
        },
        (failure) => abort.signal.aborted || setError(failure),
      )
      .finally(() => abort.signal.aborted || setLoading(false))
    return () => abort.abort()
  }, [wanted])
  return {
    items: pages?.items,
    error,
    isLoading,
    hasMore: pages?.next_after !== undefined,
    more: () => setWanted(({ round }) => ({ round, after: pages?.next_after })),
    reload: () => setWanted(({ round }) => ({ round: round + 1 })),
  }
}

/** What stands below a list: that it is read, is empty, has failed, or has more. */
export function PagesEnd<Item>({ pages, none }: { pages: Paged<Item>; none: string }) {
  const { items, error, isLoading, hasMore, more } = pages
  return (
    <>
      <ErrorNote error={error} onRetry={pages.reload} />
      {!items && !error && <Waiting />}
      {items?.length === 0 && !isLoading && <p class="quiet">{none}</p>}
      {hasMore && (
        <button type="button" disabled={isLoading} onClick={more}>
          {administrationTexts.value.more}
        </button>
      )}
    </>
  )
}
