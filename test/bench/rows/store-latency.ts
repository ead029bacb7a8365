import { createChatClient } from '../../../lib/client/index.ts'
import { createChatStore, type Readable } from '../../../lib/client/store/index.ts'
import { p99 } from '../load/latency.ts'
import type { Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { createPeople, type Person } from '../servers/people.ts'

/** The posts of a round, and of one before that is not counted. */
const POSTS = 200

const measured = onEachDatabase(async (database, { rounds }) => {
  const { people, places } = await createPeople(database, 2, [[0, 1]])
  const [reader, other] = people as [Person, Person]
  const { conversation_id, root_id } = places[0]!
  return async ({ port }) => {
    const base_url = `http://127.0.0.1:${port}`
    let requests = 0
    const as =
      ({ headers }: Person): typeof fetch =>
      (input, init) => {
        requests++
        return fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), ...headers } })
      }
    const poster = createChatClient({ base_url, fetch: as(other) })
    const store = createChatStore(createChatClient({ base_url, fetch: as(reader) }))
    const window = store.conversation(conversation_id, { view: 'all' })
    const stops = [store.conversations, window].map((view) => view.subscribe(() => {}))
    try {
      await until(store.conversations, ({ status }) => status === 'ready')
      await until(window, ({ status }) => status === 'ready')
      await until(store.connection, ({ status }) => status === 'online')
      const times: number[] = []
      let asked = 0
      for (let n = 0; n < (rounds + 1) * POSTS; n++) {
        const before = store.conversations.getSnapshot().conversations[0]!.unread
        const content = `Post ${n}`
        requests = 0
        const sent = performance.now()
        const seen = Promise.all([
          until(store.conversations, ({ conversations }) => conversations[0]!.unread === before + 1),
          until(window, ({ messages }) => messages.at(-1)?.content === content),
        ])
        await (n % 2
          ? poster.messages.reply(root_id, { content })
          : poster.messages.postRoot(conversation_id, { content }))
        await seen
        if (n < POSTS) continue
        times.push(performance.now() - sent)
        // Without the post itself.
        asked += requests - 1
      }
      const each = Array.from({ length: rounds }, (_, round) => times.slice(round * POSTS, (round + 1) * POSTS))
      return {
        latency: each.map((part) => ({ service: p99(part) })),
        requests: [{ service: asked / (rounds * POSTS) }],
      }
    } finally {
      for (const stop of stops) stop()
    }
  }
})

function until<View>(view: Readable<View>, condition: (value: View) => boolean): Promise<void> {
  return new Promise((resolve) => {
    let stop: (() => void) | undefined
    const look = () => {
      if (!condition(view.getSnapshot())) return
      stop?.()
      resolve()
    }
    stop = view.subscribe(look)
    look()
  })
}

/** How soon another user's post is in the lists of a store, its conversations and a conversation by arrival. */
export const storeLatency: Row[] = measured.flatMap(({ suffix, on, unavailable, measure }) => [
  {
    name: `store-latency${suffix}`,
    title: `99th percentile from another user's post to the lists of a store${on}`,
    unit: 'ms',
    better: 'lower',
    reach: 150,
    beyond: 50,
    unavailable,
    measure: async (bench) => (await measure(bench)).latency,
  },
  {
    name: `store-requests${suffix}`,
    title: `requests of a store for such a post${on}`,
    unit: 'requests',
    better: 'lower',
    reach: 1,
    beyond: 0,
    unavailable,
    measure: async (bench) => (await measure(bench)).requests,
  },
])
