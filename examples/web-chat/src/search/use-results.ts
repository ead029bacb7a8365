import type { SearchPage, SearchResult } from 'chat-server/client'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import type { SearchRoute } from '../app/route.ts'

/** How many messages are looked for at once. */
const PAGE = 20

/** Between the parts of a long search: the service allows so many in a minute. */
const PAUSE_MS = 1_000

/** How many parts of a long search follow each other before the user is asked. */
const MAX_PARTS = 10

/** What was found so far. */
export interface Results {
  results: readonly SearchResult[]
  /** Where the search goes on; `undefined` at its end. */
  cursor?: string | undefined
  isSearching: boolean
  /** Whether older messages are not in the index yet. */
  isIncomplete: boolean
  error?: unknown
}

const NOTHING: Results = { results: [], isSearching: false, isIncomplete: false }

/** The messages that a search finds; `more` reads on. Without anything to look for, there are none. */
export function useResults(route: SearchRoute): Results & { more: () => void } {
  const { client } = useApp()
  const [found, setFound] = useState<Results>(NOTHING)
  const [wanted, setWanted] = useState<{ cursor?: string | undefined }>({})
  const { name: _, ...query } = route
  const key = JSON.stringify(query)
  useEffect(() => setWanted({}), [key])
  useEffect(() => {
    if (!isSearch(route)) return setFound(NOTHING)
    const abort = new AbortController()
    const { signal } = abort
    setFound(({ results }) => ({ ...NOTHING, results: wanted.cursor ? results : [], isSearching: true }))
    const read = (cursor?: string) =>
      client.search.messages({ ...queryOf(route), limit: PAGE, ...(cursor !== undefined && { cursor }) }, { signal })
    const show = (page: SearchPage, isSearching: boolean) =>
      setFound(({ results }) => ({
        results: [...results, ...page.results],
        cursor: page.next_cursor,
        isSearching,
        isIncomplete: page.incomplete === true,
      }))
    readOn(read, show, wanted.cursor, signal).catch(
      (error) => signal.aborted || setFound((before) => ({ ...before, isSearching: false, error })),
    )
    return () => abort.abort()
  }, [key, wanted])
  return { ...found, more: () => setWanted({ cursor: found.cursor }) }
}

/** Reads a page, which may come in parts. */
async function readOn(
  read: (cursor?: string) => Promise<SearchPage>,
  show: (page: SearchPage, isSearching: boolean) => void,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  let next = cursor
  let count = 0
  for (let part = 1; ; part++) {
    const page = await read(next)
    if (signal.aborted) return
    count += page.results.length
    next = page.next_cursor
    const isPart = page.partial === true && next !== undefined && count < PAGE && part < MAX_PARTS
    show(page, isPart)
    if (!isPart) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    if (signal.aborted) return
  }
}

/** Whether there is something to look for. */
export function isSearch({ q, in: conversation, from, has }: SearchRoute): boolean {
  return [q, conversation, from, has].some((each) => each !== undefined && each !== '')
}

/** The days of the user, as instants. */
function queryOf({ q, in: conversation, from, before, after, has }: SearchRoute) {
  return {
    q,
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
