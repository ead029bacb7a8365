import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SearchPage, SearchResult } from '../../../lib/client/index.ts'
import { createMessageSearch, searchMessages, searchOf } from '../../../lib/client/store/parts.ts'
import { startThread, waitForView } from './world.ts'

const resultOf = (content: string) => ({ message: { content } }) as SearchResult
const contentsOf = (results: readonly SearchResult[]) => results.map(({ message }) => message.content)

/** A client whose searches return these pages, or throw these errors, one after another. */
function scripted(answers: (SearchPage | Error)[]) {
  const asked: (string | undefined)[] = []
  const messages = async (
    { cursor }: { cursor?: string | undefined } = {},
    { signal }: { signal?: AbortSignal } = {},
  ) => {
    signal?.throwIfAborted()
    asked.push(cursor)
    const answer = answers.shift()!
    if (answer instanceof Error) throw answer
    return answer
  }
  return { client: { search: { messages } }, asked }
}

describe('a search of a service', () => {
  it('is sent once for what was typed quickly, and is read in pages', async () => {
    const { ada, store, network, conversation_id } = await startThread({ users: ['ada', 'grace'] })
    for (const n of [1, 2, 3]) await ada.messages.postRoot(conversation_id, { content: `steam ${n}` })
    const search = searchOf(store, { debounce_ms: 5, limit: 2 })
    onTestFinished(search.cancel)
    network.calls.length = 0
    for (const q of ['s', 'st', 'steam', 'steam']) search.set({ q })
    const first = await waitForView(search, ({ status }) => status === 'ready')
    expect([contentsOf(first.results), first.has_more]).toEqual([['steam 3', 'steam 2'], true])
    expect(network.calls.filter((call) => call.endsWith('/api/search'))).toHaveLength(1)
    await search.more()
    const { results, has_more, status } = search.getSnapshot()
    expect([contentsOf(results), has_more, status]).toEqual([['steam 3', 'steam 2', 'steam 1'], false, 'ready'])
    search.set({ q: ' ' })
    expect(search.getSnapshot()).toEqual({
      status: 'idle',
      results: [],
      has_more: false,
      is_incomplete: false,
      unknown_filters: [],
    })
    const found: string[] = []
    for await (const { message } of searchMessages(ada, { q: 'steam' }, { limit: 2 })) found.push(message.content)
    expect(found).toEqual(['steam 3', 'steam 2', 'steam 1'])
  })
})

/** So much time passes by the clock, and what is loaded by the search is there. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await import('../../../lib/client/store/search-pages.ts')
  await vi.advanceTimersByTimeAsync(0)
}

describe('a search in parts', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('goes on by itself until a page is full, and shows what it has meanwhile', async () => {
    const { client, asked } = scripted([
      { results: [], next_cursor: 'a', partial: true, incomplete: true },
      { results: [resultOf('one')], next_cursor: 'b', partial: true },
      { results: [resultOf('two')], next_cursor: 'c', partial: true },
      { results: [] },
    ])
    const search = createMessageSearch(client, { debounce_ms: 10, limit: 2 })
    search.set({ q: 'rare' })
    await pass(10)
    expect(search.getSnapshot()).toEqual({
      status: 'loading',
      results: [],
      has_more: true,
      is_incomplete: true,
      unknown_filters: [],
    })
    await pass(1_000)
    expect(search.getSnapshot()).toMatchObject({ status: 'loading', results: [resultOf('one')] })
    await pass(1_000)
    expect(search.getSnapshot()).toMatchObject({ status: 'ready', has_more: true, is_incomplete: false })
    await search.more()
    expect(search.getSnapshot()).toMatchObject({ status: 'ready', has_more: false })
    expect(contentsOf(search.getSnapshot().results)).toEqual(['one', 'two'])
    expect(asked).toEqual([undefined, 'a', 'b', 'c'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps what was found when it fails, and reads on from there', async () => {
    const { client, asked } = scripted([
      { results: [resultOf('one')], next_cursor: 'a', partial: true },
      new TypeError('fetch failed'),
      { results: [resultOf('two')] },
    ])
    const search = createMessageSearch(client, { debounce_ms: 0 })
    search.set({ q: 'any' })
    await pass(0)
    await pass(1_000)
    expect(search.getSnapshot()).toMatchObject({
      status: 'failed',
      error: expect.any(TypeError),
      results: [resultOf('one')],
    })
    await search.more()
    expect(search.getSnapshot()).toMatchObject({ status: 'ready', error: undefined })
    expect(contentsOf(search.getSnapshot().results)).toEqual(['one', 'two'])
    expect(asked).toEqual([undefined, 'a', 'a'])
  })

  it('shows nothing of a search that was cancelled', async () => {
    let answer!: (page: SearchPage) => void
    const messages = () => new Promise<SearchPage>((resolve) => (answer = resolve))
    const search = createMessageSearch({ search: { messages } }, { debounce_ms: 0 })
    search.set({ q: 'old' })
    await pass(0)
    const late = answer
    search.set({ q: 'new' })
    await pass(0)
    late({ results: [resultOf('old')] })
    answer({ results: [resultOf('new')] })
    await pass(0)
    expect(contentsOf(search.getSnapshot().results)).toEqual(['new'])
  })

  it('ends an iteration by its signal, also between two parts', async () => {
    const { client } = scripted([{ results: [resultOf('one')], next_cursor: 'a', partial: true }])
    const abort = new AbortController()
    const iteration = searchMessages(client, { q: 'any' }, { signal: abort.signal })
    expect((await iteration.next()).value).toEqual(resultOf('one'))
    const next = iteration.next()
    abort.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
    expect(vi.getTimerCount()).toBe(0)
  })
})
