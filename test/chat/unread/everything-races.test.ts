import { expect, it } from 'vitest'
import { createChatStore } from '../../../lib/client/store/index.ts'
import { MINUTE, SECOND } from '../../../lib/core/units.ts'
import type { Storage } from '../../../lib/storage/open.ts'
import { waitForView } from '../../client/store/world.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { type Person, startService, times } from '../../support/service.ts'

/** What happens at the places of a call that a test names, once. */
const at: { listed?: () => Promise<unknown>; begun?: (nth: number) => unknown } = {}
let begun = 0

/** A storage that calls {@link at} after unread conversations were listed, and when a transaction begins to read some. */
function paused(storage: Storage): Storage {
  const { db } = storage
  return {
    ...storage,
    db: {
      ...db,
      all: async (sql) => {
        const rows = await db.all(sql)
        const { listed } = at
        if (sql.text.includes('AS unread')) {
          delete at.listed
          await listed?.()
        }
        return rows as never
      },
      write: (work, options) =>
        db.write((tx) => {
          const all: typeof tx.all = (sql) => {
            // A recount beside the call reads the same columns, but not whether anything is unread.
            if (sql.text.includes('AS is_unread')) at.begun?.(++begun)
            return tx.all(sql)
          }
          return work({ ...tx, all })
        }, options),
    },
  }
}

describeOnEachDatabase('marking everything as read', (openUrl) => {
  let skew = 0
  const [service, other] = setUpNodes(async () => {
    const url = await openUrl()
    return [
      await startService(url, { wrap: paused }),
      await startService(url, { ports: { now: () => Date.now() * 1000 + skew } }),
    ]
  })

  /** Grace, who reads her conversations of Ada through a store. */
  async function startReading(count: number) {
    const name = crypto.randomUUID().slice(0, 8)
    const ada = await other.signIn(`ada-${name}`)
    const grace = await service.signIn(`grace-${name}`)
    const rooms = await Promise.all(
      times(count, async (n) => {
        const { conversation_id } = await ada.conversations.create({ title: `Room ${n}` })
        await ada.participants.add(conversation_id, { user_id: grace.id })
        return conversation_id
      }),
    )
    const post = (room: string) => ada.messages.postRoot(room, { content: 'Hello' })
    const store = createChatStore(grace, { refresh_ms: 5 })
    const stop = store.conversations.subscribe(() => {})
    await waitForView(store.connection, ({ status }) => status === 'online')
    while (store.conversations.getSnapshot().conversations.length < count) await store.conversations.loadMore()
    const unreadOf = (room: string) =>
      store.conversations.getSnapshot().conversations.find(({ id }) => id === room)?.unread
    const end = () => {
      stop()
      store.close()
    }
    return { ada, grace, rooms: rooms as [string, string, ...string[]], post, store, unreadOf, end }
  }

  const unreadIn = async (reader: Person) => {
    const { conversations } = await reader.conversations.list({ limit: 200 })
    return Object.fromEntries(conversations.map(({ id, unread }) => [id, unread]))
  }

  it('reads a post of before that is stored during the call, in another conversation, or leaves it unread for all', async () => {
    const { grace, rooms, post, store, unreadOf, end } = await startReading(3)
    const [first, second] = rooms
    await post(first)
    await waitForView(store.conversations, () => unreadOf(first) === 1)
    // The clock of the other node is behind: the post arrived before the mark, by its instant.
    skew = -MINUTE
    at.listed = async () => {
      await post(second)
      await waitForView(store.conversations, () => unreadOf(second) === 1)
    }
    await grace.conversations.markAllRead()
    skew = 0
    await waitForView(store.conversations, () => unreadOf(first) === 0)
    await post(rooms[2]!)
    await waitForView(store.conversations, () => unreadOf(rooms[2]!) === 1)
    expect(await unreadIn(grace)).toEqual(Object.fromEntries(rooms.map((room) => [room, unreadOf(room)])))
    expect(unreadOf(second)).toBe(0)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    end()
  })

  it('leaves a post unread that is stored during the call and newer, in a conversation with older ones', async () => {
    const { grace, rooms, post, store, unreadOf, end } = await startReading(2)
    const [first, second] = rooms
    await post(first)
    await post(second)
    await waitForView(store.conversations, () => unreadOf(first) === 1 && unreadOf(second) === 1)
    skew = SECOND
    at.listed = () => post(first)
    await grace.conversations.markAllRead()
    skew = 0
    await waitForView(store.conversations, () => unreadOf(first) === 1 && unreadOf(second) === 0)
    expect(await unreadIn(grace)).toEqual({ [first]: 1, [second]: 0 })
    await grace.conversations.markAllRead()
    expect(await unreadIn(grace)).toEqual({ [first]: 0, [second]: 0 })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    end()
  })

  it('shows what was read so far when the process ends between two transactions', async () => {
    const { grace, rooms, post, store, unreadOf, end } = await startReading(51)
    const { length } = rooms
    const first = await Promise.all(rooms.map(post))
    const last = first
      .map(({ message }) => message.created_at)
      .sort()
      .at(-1)!
    await Promise.all(rooms.map(post))
    const counts = () => rooms.map((room) => unreadOf(room))
    /** What all rooms show: a list that is read again begins with its first page. */
    const shown = async () => {
      if (store.conversations.getSnapshot().conversations.length < length) await store.conversations.loadMore()
      return counts()
    }
    const number = async (unread: number) => (await shown()).filter((count) => count === unread).length
    await expect.poll(() => number(2)).toBe(length)
    begun = 0
    at.begun = (nth) => {
      if (nth === 2) throw new Error('The process has ended')
    }
    await expect(grace.conversations.markAllRead({ up_to: last })).rejects.toMatchObject({ code: 'internal' })
    delete at.begun
    await expect.poll(async () => [await number(1), await number(2)]).toEqual([50, 1])
    const stored = await unreadIn(grace)
    await expect.poll(shown).toEqual(rooms.map((room) => stored[room]))
    await grace.conversations.markAllRead({ up_to: last })
    await expect.poll(() => number(1)).toBe(length)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    end()
  })
})
