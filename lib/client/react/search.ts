import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { refuseUnknown } from '../options.ts'
import { type MessageQuery, SEARCH_OPTIONS, type SearchOptions, type SearchView, searchOf } from '../store/search.ts'
import { useChatStore } from './context.ts'

/** The messages that a search finds, newest first, and `more`, which reads the next page, or again what failed. */
export interface FoundMessages extends SearchView {
  more: () => Promise<void>
}

/**
 * Searches while the user types: a query that has stayed the same for a moment is sent, and cancels the one before. The
 * query may be another object at every render; without one, or an empty one, nothing is searched for.
 */
export function useSearch(query: MessageQuery | undefined, options: SearchOptions = {}): FoundMessages {
  refuseUnknown('useSearch', options, SEARCH_OPTIONS)
  const { debounce_ms, limit } = options
  const store = useChatStore()
  // An option that is undefined has its default.
  const search = useMemo(() => searchOf(store, { debounce_ms, limit } as SearchOptions), [store, debounce_ms, limit])
  const key = JSON.stringify(query ?? {})
  useEffect(() => {
    search.set(JSON.parse(key))
    return search.cancel
  }, [search, key])
  const view = useSyncExternalStore(search.subscribe, search.getSnapshot, search.getServerSnapshot)
  return useMemo(() => ({ ...view, more: search.more }), [view, search])
}
