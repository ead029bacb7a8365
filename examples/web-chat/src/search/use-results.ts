import { searchOf } from 'chat-server/client/parts'
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import type { SearchRoute } from '../app/route.ts'
import { leftOverOf, queryWords } from './narrowing.ts'

/** The messages that a search finds; `more` reads on. Without anything to look for, there are none. */
export function useResults(route: SearchRoute) {
  const { store } = useApp()
  // The address changes once the user has typed: nothing is to be waited for.
  const search = useMemo(() => searchOf(store, { debounce_ms: 0 }), [store])
  const view = useReadable(search)
  const { name: _, ...query } = route
  useLayoutEffect(() => search.set(isSearch(route) ? queryOf(route) : undefined), [search, JSON.stringify(query)])
  useEffect(() => search.cancel, [search])
  const not_filters = [...leftOverOf(route.q), ...view.unknown_filters.map((key) => `${key}:`)]
  return { ...view, not_filters, more: () => void search.more() }
}

/** Whether there is something to look for. */
export function isSearch({ q, in: conversation, from, has }: SearchRoute): boolean {
  return [q, conversation, from, has].some((each) => each !== undefined && each !== '')
}

/** The days of the user, as instants. */
function queryOf({ q, in: conversation, from, before, after, has }: SearchRoute) {
  return {
    q: queryWords(q),
    ...(conversation !== undefined && { in: conversation }),
    ...(from !== undefined && { from }),
    ...(before !== undefined && { before: beginOf(before) }),
    ...(after !== undefined && { after: beginOf(after) }),
    ...(has !== undefined && { has }),
  }
}

function beginOf(date: string): string {
  return new Date(`${date}T00:00`).toISOString()
}
