import { expect, it, vi } from 'vitest'
import type { Log } from '../../../lib/context.ts'
import type { FeedRow, News } from '../../../lib/live/feed/feed-order.ts'
import { createWatch, type WatchDeps, type Watcher } from '../../../lib/live/feed/watch.ts'

const rowOf = (id: number, conversation_id: string, type = 'message.new', user_id: string | null = null) =>
  ({
    id,
    seq: id,
    conversation_id,
    type,
    user_id,
    message_id: null,
    detail: null,
    created_at: 0,
    for_user_id: null,
  }) as FeedRow

/** A log of which `participants` are in the conversations of the same name, and a watch of it. */
function createLog(participants: Record<string, string[]> = {}) {
  const rows: FeedRow[] = []
  const asked: [string[], string[]][] = []
  const warnings: string[] = []
  let fails = false
  const feed: WatchDeps['feed'] = {
    head: async () => rows.length,
    news: async (place): Promise<News> => {
      if (fails) throw new Error('gone')
      return {
        rows: rows.slice(Number(place)).map((row) => [row, row.id]),
        place: rows.length,
        isLast: true,
        isEarly: false,
      }
    },
  }
  const watch = createWatch({
    feed,
    async listParticipations(userIds, conversationIds) {
      asked.push([[...userIds], [...conversationIds]])
      return [...conversationIds].flatMap((conversation_id) =>
        (participants[conversation_id] ?? []).map((user_id) => ({ conversation_id, user_id })),
      )
    },
    log: { warn: (message: string) => void warnings.push(message) } as unknown as Log,
  })
  const settle = () => new Promise((resolve) => setTimeout(resolve, 5))
  return {
    watch,
    asked,
    warnings,
    fail: () => {
      fails = true
    },
    async add(...added: FeedRow[]) {
      rows.push(...added)
      watch.advance()
      await settle()
    },
  }
}

function watcherOf(user_id: string, more: Partial<Omit<Watcher, 'wake'>> = {}) {
  const wake = vi.fn()
  return { user_id, is_system: false, wants: () => true, wake, ...more }
}

it('wakes participants, those whose own membership has changed, and system actors, by one look-up', async () => {
  const { watch, asked, add } = createLog({ one: ['ada'] })
  const [ada, grace, eve] = [watcherOf('ada'), watcherOf('grace'), watcherOf('eve')]
  const system = watcherOf('system', { is_system: true })
  for (const watcher of [ada, grace, eve, system]) await watch.add(watcher)
  await add(rowOf(1, 'one'), rowOf(2, 'two', 'membership.changed', 'grace'))
  expect([ada, grace, eve, system].map(({ wake }) => wake.mock.calls.length)).toEqual([1, 1, 0, 1])
  expect(asked).toEqual([
    [
      ['ada', 'grace', 'eve'],
      ['one', 'two'],
    ],
  ])
})

it('looks nothing up for rows that no reader wants, and reads nothing without readers', async () => {
  const { watch, asked, add } = createLog({ one: ['ada'] })
  await add(rowOf(1, 'one'))
  const ada = watcherOf('ada', { wants: ({ type }) => type === 'message.new' })
  const remove = await watch.add(ada)
  await add(rowOf(2, 'one', 'pin.changed'))
  expect(asked).toEqual([])
  remove()
  expect(watch.size()).toBe(0)
  await add(rowOf(3, 'one'))
  await watch.add(ada)
  await add()
  expect(ada.wake).not.toHaveBeenCalled()
})

it('wakes all readers when the log cannot be read: each fails by itself, or goes on', async () => {
  const { watch, warnings, add, fail } = createLog()
  const ada = watcherOf('ada')
  await watch.add(ada)
  fail()
  await add(rowOf(1, 'one'))
  expect(ada.wake).toHaveBeenCalledOnce()
  expect(warnings).toEqual(['New events cannot be read'])
})

it('asks a reader of one conversation about the rows of others not at all', async () => {
  const { watch, add } = createLog({ one: ['ada'], two: ['ada'] })
  const wants = vi.fn(() => true)
  const ada = watcherOf('ada', { conversation_id: 'one', wants })
  await watch.add(ada)
  await add(rowOf(1, 'two'))
  expect([wants.mock.calls.length, ada.wake.mock.calls.length]).toEqual([0, 0])
  await add(rowOf(2, 'two'), rowOf(3, 'one'))
  expect(ada.wake).toHaveBeenCalledOnce()
})
