import type { SearchResult } from '../../api/search.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { pause } from '../backoff.ts'
import { refuseUnknown } from '../options.ts'
import type { ChatClient } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import { createCell, type Readable } from './cell.ts'
import type { ChatStore } from './index.ts'
import type { PageReader } from './search-pages.ts'

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

/** The results of a page. */
const PAGE = 20

const IDLE: SearchView = { status: 'idle', results: [], has_more: false, is_incomplete: false, unknown_filters: [] }

/** The part of a client that searches. */
export type SearchClient = Pick<ChatClient, 'search'>

/** Loaded with the first search. */
const loadPages = () => import('./search-pages.ts')

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
  const { pagesOf } = await loadPages()
  for await (const page of pagesOf(client, query, { limit: PAGE, ...options })) yield* page.results
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
  let search: ReturnType<typeof start> | undefined

  /** Searches for one query, a moment later, until it is cancelled. */
  function start(query: MessageQuery) {
    const abort = new AbortController()
    const { signal } = abort
    const show = (change: Partial<SearchView>) => {
      if (!signal.aborted) cell.set({ ...cell.getSnapshot(), error: undefined, ...change })
    }
    let reader: PageReader | undefined

    /** Reads until there is a page more of results, or the end. */
    async function read(): Promise<void> {
      show({ status: 'loading' })
      try {
        reader ??= (await loadPages()).createPageReader(client, query, { signal, limit })
        await reader((found, state) => show({ ...state, results: [...cell.getSnapshot().results, ...found] }))
      } catch (error) {
        show({ status: 'failed', error })
      }
    }

    void pause(debounce_ms, signal).then(() => (signal.aborted ? undefined : read()))
    return { query, read, abort }
  }

  function cancel(): void {
    search?.abort.abort()
    search = undefined
  }

  return {
    ...cell,
    set(query) {
      const wantedQuery = query && isWanted(query) ? query : undefined
      if (JSON.stringify(wantedQuery) === JSON.stringify(search?.query)) return
      cancel()
      cell.set(wantedQuery ? { ...IDLE, status: 'loading' } : IDLE)
      search = wantedQuery && start(wantedQuery)
    },
    async more() {
      const { status, has_more } = cell.getSnapshot()
      if (status === 'failed' || (status === 'ready' && has_more)) await search?.read()
    },
    cancel,
  }
}

/** Whether there is something to search for; times alone are not. */
function isWanted({ q, in: conversation, from, thread, has }: MessageQuery): boolean {
  return Boolean(q?.trim() || conversation || from || thread || has)
}
