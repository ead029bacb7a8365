import { contextOf } from '../../../lib/core/context-of.ts'
import { type Filling, messageId, settle } from '../filled/conversation.ts'
import type { Row } from '../row.ts'
import { addFilled, libraryRows } from './library.ts'
import { messagesOf } from './reads.ts'

const PAGE = 50
const SMALL = 1_000

/** The messages of each of many threads. */
const THREAD = 10

const shown = <Name extends string>(name: Name, title: string, peer: string, beyond: number) =>
  ({ name, title, peer, unit: 'ms', better: 'lower', reach: 2, beyond }) as const

/** The newest page of each list of a large conversation against that of a small one, one in its middle, and one with quotes. */
export const timeline: Row[] = libraryRows(
  [
    shown('timeline', `the newest ${PAGE} of 1,000,000 messages of a conversation`, 'of 1,000', 1.3),
    shown('timeline-threads', `the newest ${PAGE} roots of 100,000 threads`, 'of 100', 1.3),
    shown('timeline-roots', `the newest ${PAGE} of 1,000,000 roots without replies`, 'of 1,000', 1.3),
    shown('timeline-thread', `the newest ${PAGE} replies of 1,000,000 of a thread`, 'of 1,000', 1.3),
    shown('timeline-around', `${PAGE} messages around the middle of 1,000,000`, 'the newest', 1.5),
    shown('timeline-quotes', `the newest ${PAGE} of 1,000 roots, which all quote`, 'of 1,000 that do not', 1.3),
  ],
  async (room) => {
    const { chat, reader, bench, compare } = room
    const many = messagesOf(bench)
    const large = await addFilled(room, 1, { threads: many / THREAD, replies: THREAD - 1 })
    const small = await addFilled(room, 2, { threads: SMALL / THREAD, replies: THREAD - 1 })
    const roots = await addFilled(room, 3, { threads: many, replies: 0 })
    const fewRoots = await addFilled(room, 4, { threads: SMALL, replies: 0 })
    const quoting = await addFilled(room, 5, { threads: SMALL, replies: 0, quotes: true })
    const long = await addFilled(room, 6, { threads: 1, replies: many })
    const short = await addFilled(room, 7, { threads: 1, replies: SMALL })
    await settle(contextOf(chat).db)

    const page = (read: () => Promise<{ messages: unknown[] }>) => async () => {
      const { messages } = await read()
      if (messages.length !== PAGE) throw new Error(`a page had ${messages.length} messages`)
    }
    const list = ({ conversation_id }: Filling, view: 'roots' | 'all', around?: string) =>
      page(() => chat.messages.list(reader, conversation_id, { view, limit: PAGE, ...(around && { around }) }))
    const replies = (filling: Filling) =>
      page(() => chat.threads.messages(reader, messageId(filling, 0), { limit: PAGE }))
    const middle = messageId(large, large.threads >> 1, THREAD >> 1)
    return {
      timeline: await compare(list(large, 'all'), list(small, 'all')),
      'timeline-threads': await compare(list(large, 'roots'), list(small, 'roots')),
      'timeline-roots': await compare(list(roots, 'roots'), list(fewRoots, 'roots')),
      'timeline-thread': await compare(replies(long), replies(short)),
      'timeline-around': await compare(list(large, 'all', middle), list(large, 'all')),
      'timeline-quotes': await compare(list(quoting, 'roots'), list(fewRoots, 'roots')),
    }
  },
)
