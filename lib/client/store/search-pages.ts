import type { SearchPage, SearchResult } from '../../api/search.ts'
import type { MessageQuery, SearchClient, SearchView } from './search.ts'

/** Between the parts of a long search: the service limits their number in a minute. */
const PAUSE_MS = 1_000

/** The pages of a search from `cursor` on, partial ones after a pause. */
export async function* pagesOf(
  client: SearchClient,
  query: MessageQuery,
  { signal, limit, cursor }: { signal?: AbortSignal; limit: number; cursor?: string | undefined },
): AsyncGenerator<SearchPage, void> {
  let next = cursor
  do {
    const page = await client.search.messages({ ...query, limit, cursor: next }, { signal })
    yield page
    next = page.next_cursor
    if (page.partial) await pause(PAUSE_MS, signal)
  } while (next !== undefined)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

/** Reads a page more of a search, of which parts may come one after another: it is called with each. */
export type PageReader = (
  show: (found: readonly SearchResult[], state: Omit<SearchView, 'results' | 'error'>) => void,
) => Promise<void>

/** A reader that goes on where it ended, or failed, before. */
export function createPageReader(
  client: SearchClient,
  query: MessageQuery,
  options: { signal: AbortSignal; limit: number },
): PageReader {
  let cursor: string | undefined
  return async (show) => {
    let left = options.limit
    for await (const page of pagesOf(client, query, { ...options, cursor })) {
      cursor = page.next_cursor
      left -= page.results.length
      const has_more = cursor !== undefined
      const isOn = page.partial === true && has_more && left > 0
      show(page.results, {
        status: isOn ? 'loading' : 'ready',
        has_more,
        is_incomplete: page.incomplete === true,
        unknown_filters: page.unknown_filters ?? [],
      })
      if (!isOn) return
    }
  }
}
