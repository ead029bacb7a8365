import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it } from 'vitest'
import { ChatProvider, useDirectory } from '../../../lib/client/react/index.ts'
import { startWorld } from '../store/world.ts'

it('useDirectory has the list of its query, which the store shares', async () => {
  const { store } = await startWorld()
  const seen: ReturnType<typeof useDirectory>[] = []
  const Rooms = ({ query }: { query?: string }) => {
    seen.push(useDirectory({ query }))
    return null
  }
  renderToString(
    createElement(ChatProvider, { store }, createElement(Rooms), createElement(Rooms, { query: 'engines' })),
  )
  const [all, found] = seen
  expect(all).toMatchObject({ status: 'loading', conversations: [], has_more: false })
  expect(all!.loadMore).toBe(store.directory().loadMore)
  expect(found!.reload).toBe(store.directory({ query: 'engines' }).reload)
  expect(found!.reload).not.toBe(all!.reload)
})
