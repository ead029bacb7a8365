import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../../lib/core/actor.ts'
import { type FeedOrder, type FeedRow, type Place, sqliteOrder } from '../../../lib/live/feed/feed-order.ts'
import { createOwnCommits } from '../../../lib/live/feed/own-commits.ts'
import { postgresOrder } from '../../../lib/live/feed/postgres-order.ts'
import { appendEvents } from '../../../lib/live/log/appending.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, type TestService, times } from '../../support/service.ts'
import { holdStorage, type Which } from '../held.ts'

const UNUSED = {} as Database

/** A row of the log: its id, its number in a conversation, and its transaction. */
function row(id: number, conversation_id: string, seq: number, xid: number): FeedRow {
  const type = 'message.new' as const
  const about = { message_id: null, user_id: null, detail: null, for_user_id: null }
  return { id, conversation_id, seq, xid, type, ...about, created_at: 0 }
}

/** Own commits after a place that has event 7 of the conversation `a`. */
function startAt<P extends Place>({ format, parse }: FeedOrder<P>, text: string) {
  const own = createOwnCommits()
  const place = parse(text)!
  own.passed([[row(40, 'a', 7, 90), place]])
  return {
    own,
    /** The places after each row of what follows, and the last one. */
    take() {
      const news = own.take(place)
      return news && [...news.rows.map(([, each]) => each), news.place].map((each) => format(each as P))
    },
  }
}

describe('commits of this process, on PostgreSQL', () => {
  // Below 100 only 98 is unfinished; in base 36, 100 is 2s.
  const start = () => startAt(postgresOrder(UNUSED), '2s_2')

  it('follow a snapshot, which then sees their transactions, and not those that it has passed', () => {
    const { own, take } = start()
    own.add([row(41, 'a', 8, 100), row(42, 'a', 9, 100)])
    own.add([row(44, 'a', 10, 103)])
    expect(take()).toEqual(['2s_2-2t_3-15', '2s_2-2t_3-16', '2t_3-2w_6_3_2-18', '2w_6_3_2'])
  })

  it('follow also if their transaction began before the snapshot', () => {
    const { own, take } = start()
    own.add([row(41, 'a', 8, 98)])
    expect(take()).toEqual(['2s_2-2s-15', '2s'])
  })

  it('are left out if the snapshot sees them', () => {
    const { own, take } = start()
    own.add([row(40, 'a', 7, 90)])
    expect(take()).toEqual(['2s_2'])
  })

  it.each<[string, FeedRow[][]]>([
    ['another process has committed in their conversation before', [[row(42, 'a', 9, 100)]]],
    ['nothing of their conversation was delivered', [[row(41, 'b', 8, 100)]]],
    ['one of their conversations is unknown', [[row(41, 'a', 8, 100), row(42, 'b', 1, 100)]]],
    ['they arrive in another order', [[row(42, 'a', 9, 101)], [row(41, 'a', 8, 100)]]],
    ['too many transactions are passed', [[row(41, 'a', 8, 130)]]],
    ['too much waits', times(300, (n) => [row(41 + n, 'a', 8 + n, 100 + n)])],
    ['a commit is too large', [times(300, (n) => row(41 + n, 'a', 8 + n, 100))]],
    ['there is something else', [[row(41, 'a', 8, 100)], []]],
  ])('are read if %s', (_, commits) => {
    const { own, take } = start()
    for (const rows of commits) own.add(rows)
    expect(take()).toBe(undefined)
    // The read has found them.
    own.add([row(41, 'a', 8, 100)])
    expect(take()).toHaveLength(2)
  })

  it('are read after a takeover, when numbers come again', () => {
    const { own, take } = start()
    own.forget()
    own.add([row(41, 'a', 8, 100)])
    expect(take()).toBe(undefined)
  })

  it('are read within a page, whose snapshot is older', () => {
    const { own, take } = startAt(postgresOrder(UNUSED), '2s-2u-11')
    own.add([row(41, 'a', 8, 103)])
    expect(take()).toBe(undefined)
  })
})

describe('commits of this process, on SQLite', () => {
  it('follow the id before them', () => {
    const { own, take } = startAt(sqliteOrder(UNUSED), '40')
    own.add([row(41, 'a', 8, 0), row(42, 'a', 9, 0)])
    expect(take()).toEqual(['41', '42', '42'])
  })

  it('are left out if the place has them, and read if there are others before', () => {
    const { own, take } = startAt(sqliteOrder(UNUSED), '40')
    own.add([row(40, 'a', 7, 0)])
    expect(take()).toEqual(['40'])
    own.add([row(42, 'a', 8, 0)])
    expect(take()).toBe(undefined)
  })
})

const readsNews: Which = (sql) => /latest AS|FROM events WHERE id > \?/.test(sql)

describeOnEachDatabase('a stream of all conversations on the node of the writer', (openUrl, dialect) => {
  const held = holdStorage()
  const nodes: TestService[] = []
  let ada: Actor
  let rooms: string[]
  beforeAll(async () => {
    const url = await openUrl()
    for (const options of [{ wrap: held.wrap }, {}]) nodes.push(await startService(url, options))
    ada = await nodes[0]!.chat.users.actor((await nodes[0]!.signIn('ada')).id)
    // Only what a commit makes it read.
    await innerState(nodes[0]!).streams.poller.stop()
  })
  beforeEach(async () => {
    const { conversations } = nodes[0]!.chat
    rooms = await Promise.all(times(2, async () => (await conversations.create(ada)).conversation_id))
  })
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  const post = (node: number, room: string, content: string) =>
    nodes[node]!.chat.messages.postRoot(ada, room, { content })
  const follow = (node: number, last_event_id?: string) =>
    nodes[node]!.chat.events.followAll(ada, last_event_id === undefined ? {} : { last_event_id })

  /** The contents of the next messages, up to one of them, and the id of each. */
  async function readUntil(stream: ReturnType<typeof follow>, last: string): Promise<[content: string, id: string][]> {
    const seen: [string, string][] = []
    for (;;) {
      const { value } = await stream.next()
      if (value?.event.type !== 'message.new') continue
      seen.push([value.event.payload.message.content, value.id!])
      if (seen.at(-1)![0] === last) return seen
    }
  }

  it('has what this node commits without a read of the log', async () => {
    const stream = follow(0)
    await stream.next()
    await post(0, rooms[0]!, 'first')
    await readUntil(stream, 'first')
    const before = held.count(readsNews)
    const contents = times(20, String)
    for (const content of contents) await post(0, rooms[0]!, content)
    expect((await readUntil(stream, '19')).map(([content]) => content)).toEqual(contents)
    // Some reads are due to presence, and on PostgreSQL to the transactions of other tests.
    expect(held.count(readsNews) - before).toBeLessThan(contents.length)
    await stream.return(undefined)
  })

  it('has what another node has committed before in the conversation, in its order', async () => {
    const stream = follow(0)
    await stream.next()
    const contents = times(20, String)
    for (const content of contents) await post(Number(content) % 3 === 1 ? 1 : 0, rooms[0]!, content)
    await post(0, rooms[0]!, 'end')
    expect((await readUntil(stream, 'end')).map(([content]) => content)).toEqual([...contents, 'end'])
    await stream.return(undefined)
  })

  it.runIf(dialect === 'postgresql')('resumes anywhere with a commit that was passed', async () => {
    const stream = follow(0)
    await stream.next()
    for (const room of rooms) await post(0, room, 'begin')
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let reached = () => {}
    const isOpen = new Promise<void>((resolve) => (reached = resolve))
    const late = innerState(nodes[1]!).db.write(async (tx) => {
      const events = [{ type: 'conversation.updated' as const }]
      await appendEvents(tx, [{ conversation_id: rooms[1]!, at: Date.now() * 1000, events, messages: 0, roots: 0 }])
      reached()
      await released
    })
    await isOpen
    await post(0, rooms[0]!, 'passed')
    const [, id] = (await readUntil(stream, 'passed')).at(-1)!
    release()
    await late
    await post(0, rooms[0]!, 'after')

    for (const resumed of [follow(0, id), follow(1, id)]) {
      const types: string[] = []
      for await (const { event, seq } of resumed) {
        if (seq !== undefined) types.push(event.type)
        if (types.length === 3) break
      }
      expect(types.sort()).toEqual(['conversation.updated', 'message.new', 'thread.new'])
    }
    await innerState(nodes[0]!).streams.poller.poll()
    for await (const { event } of stream) if (event.type === 'conversation.updated') break
  })
})
