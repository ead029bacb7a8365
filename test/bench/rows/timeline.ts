import { type Bench, interleave, oncePerBench, type Pair, type Row, roundsOf } from '../row.ts'
import { fillThread, fillThreads, inRoom, medianMs, messagesOf, type Room, THREAD } from './reads.ts'

const PAGE = 50
const SMALL = 1_000
/** As many threads as a page of roots has. */
const FEW_THREADS = PAGE

/** What a page is measured of: a list, and where the page begins. */
type Read = () => Promise<{ messages: unknown[] }>

interface Pages {
  roots: Pair<number>[]
  all: Pair<number>[]
  thread: Pair<number>[]
  around: Pair<number>[]
}

/** The newest page of each list of a large conversation against that of a small one, and a page in its middle. */
const measurePages = oncePerBench((bench: Bench) =>
  inRoom(async (room): Promise<Pages> => {
    const { chat, reader } = room
    const small = await anotherRoom(room)
    const large = await fillThreads(room, messagesOf(bench) / THREAD)
    await fillThreads(small, FEW_THREADS)
    const longThread = await fillThread(await anotherRoom(room), messagesOf(bench), (n) => room.since + n)
    const shortThread = await fillThread(await anotherRoom(room), SMALL, (n) => room.since + n)
    const middle = large[large.length >> 1]!
    const list = (id: string, view: 'roots' | 'all', around?: string): Read => {
      return () => chat.messages.list(reader, id, { view, limit: PAGE, ...(around && { around }) })
    }
    const thread = (root: string): Read => {
      return () => chat.threads.messages(reader, root, { limit: PAGE })
    }
    const measure = (read: Read) =>
      medianMs(bench, async () => {
        const { messages } = await read()
        if (messages.length !== PAGE) throw new Error(`a page had ${messages.length} messages`)
      })
    const compare = async (read: Read, peer: Read) => {
      await Promise.all([read(), peer()])
      return interleave(
        bench.rounds,
        () => measure(read),
        () => measure(peer),
      )
    }
    const [id, peerId] = [room.conversationId, small.conversationId]
    return {
      roots: await compare(list(id, 'roots'), list(peerId, 'roots')),
      all: await compare(list(id, 'all'), list(peerId, 'all')),
      thread: await compare(thread(longThread.root), thread(shortThread.root)),
      around: await compare(list(id, 'all', middle), list(id, 'all')),
    }
  }),
)

/** Another conversation of the same people. */
async function anotherRoom(room: Room): Promise<Room> {
  const { chat, author, reader } = room
  const { conversation_id: conversationId } = await chat.conversations.create(author, { title: 'Another' })
  await chat.participants.add(author, conversationId, { user_id: reader.user_id })
  return { ...room, conversationId }
}

const rowOf = (name: keyof Pages, row: Pick<Row, 'name' | 'title' | 'peer' | 'reach' | 'beyond'>): Row => ({
  ...row,
  unit: 'ms',
  better: 'lower',
  measure: async (bench) => roundsOf((await measurePages(bench))[name], (ms) => ms),
})

const NEWEST = { reach: 2, beyond: 1.3 }

export const timeline: Row[] = [
  rowOf('all', {
    name: 'timeline',
    title: `the newest ${PAGE} of 1,000,000 messages of a conversation`,
    peer: 'of 5,000',
    ...NEWEST,
  }),
  rowOf('roots', {
    name: 'timeline-roots',
    title: `the newest ${PAGE} roots of 10,000 threads`,
    peer: `of ${FEW_THREADS}`,
    ...NEWEST,
  }),
  rowOf('thread', {
    name: 'timeline-thread',
    title: `the newest ${PAGE} replies of 1,000,000 of a thread`,
    peer: 'of 1,000',
    ...NEWEST,
  }),
  rowOf('around', {
    name: 'timeline-around',
    title: `${PAGE} messages around the middle of 1,000,000`,
    peer: 'the newest',
    reach: 2,
    beyond: 1.5,
  }),
]
