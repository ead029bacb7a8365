import type { SearchPage, SearchResult } from '../../api/search.ts'
import { type NamesOf, refuseUnknown } from '../../core/known-names.ts'
import type { ChatClient } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import { createCell, type Readable } from './cell.ts'
import type { ChatStore } from './index.ts'

/** What is searched for, and how it is narrowed. */
export type MessageQuery = Omit<NonNullable<Parameters<ChatClient['search']['messages']>[0]>, 'cursor' | 'limit'>

/** What was found so far. */
export interface SearchView {
  /**
   * `idle` without anything to search for; `loading` also while a long search continues: then there may be results
   * already.
   */
  status: 'idle' | 'loading' | 'ready' | 'failed'
  error?: unknown
  /** Newest first. */
  results: readonly SearchResult[]
  /** Whether `more` reads on. */
  has_more: boolean
  /** Whether the service still indexes older messages, which are not found yet. */
  is_incomplete: boolean
  /** The keys of `key:value` in the query that narrow nothing: both were searched for as words. */
  unknown_filters: readonly string[]
}

/** A search that follows what is typed. */
export interface MessageSearch extends Readable<SearchView> {
  /** Searches for this a moment later; what was searched for before is cancelled. Without a query or a narrowing, for nothing. */
  set(query: MessageQuery | undefined): void
  /** Reads the next page, or again what failed. It never rejects. */
  more(): Promise<void>
  /** Cancels what is in progress. */
  cancel(): void
}

export interface SearchOptions {
  /** How long a query must stay the same before it is sent, in milliseconds. Default: 250. */
  debounce_ms?: number
  /** The results of a page. Default: 20; at most 50. */
  limit?: number
}

export const SEARCH_OPTIONS: NamesOf<SearchOptions> = { debounce_ms: 0, limit: 0 }

/** Between the parts of a long search: the service limits their number in a minute. */
const PAUSE_MS = 1_000

const PAGE = 20

const IDLE: SearchView = { status: 'idle', results: [], has_more: false, is_incomplete: false, unknown_filters: [] }

type SearchClient = Pick<ChatClient, 'search'>

/**
 * All messages that a search finds, newest first. It continues by itself, also where a page is partial; a page is read
 * when its first result is requested.
 *
 * @throws ChatError as `client.search.messages`; the reason of `signal` when that aborts
 * @example
 * for await (const { message } of searchMessages(client, { q: 'steam' })) console.log(message.content)
 */
export async function* searchMessages(
  client: SearchClient,
  query: MessageQuery,
  options: { signal?: AbortSignal; limit?: number } = {},
): AsyncGenerator<SearchResult, void> {
  refuseUnknown('searchMessages', options, { signal: 0, limit: 0 })
  for await (const page of pagesOf(client, query, options)) yield* page.results
}

/** The pages of a search from `cursor` on, partial ones after a pause. */
async function* pagesOf(
  client: SearchClient,
  query: MessageQuery,
  { signal, limit = PAGE, cursor }: { signal?: AbortSignal; limit?: number; cursor?: string | undefined },
): AsyncGenerator<SearchPage, void> {
  let next = cursor
  do {
    const page = await client.search.messages(
      { ...query, limit, ...(next !== undefined && { cursor: next }) },
      { ...(signal && { signal }) },
    )
    yield page
    next = page.next_cursor
    if (page.partial) await pause(signal)
  } while (next !== undefined)
}

function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, PAUSE_MS)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

/** A search of the client of a store; each call makes another one. */
export function searchOf(store: ChatStore, options?: SearchOptions): MessageSearch {
  return createMessageSearch(partOf(store, clientOf), options)
}

const clientOf = ({ client }: StoreBase) => client

/** A search of a client, without a store. */
export function createMessageSearch(client: SearchClient, options: SearchOptions = {}): MessageSearch {
  refuseUnknown('createMessageSearch', options, SEARCH_OPTIONS)
  const { debounce_ms = 250, limit = PAGE } = options
  const cell = createCell(IDLE)
  let query: MessageQuery | undefined
  let cursor: string | undefined
  let abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  function cancel(): void {
    clearTimeout(timer)
    abort.abort()
    abort = new AbortController()
  }

  /** Reads until there is a page more of results, or the end. */
  async function read(wanted: MessageQuery): Promise<void> {
    const { signal } = abort
    let left = limit
    const show = (change: Partial<SearchView>) => {
      if (!signal.aborted) cell.set({ ...cell.getSnapshot(), error: undefined, ...change })
    }
    show({ status: 'loading' })
    try {
      for await (const page of pagesOf(client, wanted, { signal, limit, cursor })) {
        if (signal.aborted) return
        cursor = page.next_cursor
        left -= page.results.length
        const isOn = page.partial === true && cursor !== undefined && left > 0
        show({
          status: isOn ? 'loading' : 'ready',
          results: [...cell.getSnapshot().results, ...page.results],
          has_more: cursor !== undefined,
          is_incomplete: page.incomplete === true,
          unknown_filters: page.unknown_filters ?? [],
        })
        if (!isOn) return
      }
    } catch (error) {
      show({ status: 'failed', error })
    }
  }

  return {
    ...cell,
    set(next) {
      const wanted = next && isWanted(next) ? next : undefined
      if (JSON.stringify(wanted) === JSON.stringify(query)) return
      cancel()
      query = wanted
      cursor = undefined
      cell.set(wanted ? { ...IDLE, status: 'loading' } : IDLE)
      if (wanted) timer = setTimeout(() => void read(wanted), debounce_ms)
    },
    async more() {
      const { status, has_more } = cell.getSnapshot()
      if (query && (status === 'failed' || (status === 'ready' && has_more))) await read(query)
    },
    cancel() {
      cancel()
      query = undefined
    },
  }
}

/** Whether there is something to search for; times alone are not. */
function isWanted({ q, in: conversation, from, thread, has }: MessageQuery): boolean {
  return Boolean(q?.trim() || conversation || from || thread || has)
}
