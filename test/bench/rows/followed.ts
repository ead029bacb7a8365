import { contextOf } from '../../../lib/core/context-of.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { settle } from '../filled/conversation.ts'
import { p99 } from '../load/latency.ts'
import type { Round, Row } from '../row.ts'
import { addFilled, libraryRows, type MeasuredRoom } from './library.ts'
import { messagesOf } from './reads.ts'

const CONVERSATIONS = 50

/** The threads that one reader follows in all conversations together, and another one in the first of them. */
const EACH = '10,000'
const FEW = CONVERSATIONS / 5

const PAGE = 50

/** The pages of a round, at least. */
const LEAST = 200

const P99 = { unit: 'ms', better: 'lower', reach: 20, beyond: 5 } as const

/** What a reader has who follows many threads, all with an unread reply. */
export const followed: Row[] = libraryRows(
  [
    {
      name: 'list-followed',
      title: `${CONVERSATIONS} conversations listed, ${EACH} threads followed in each`,
      peer: 'none followed',
      unit: 'ms',
      better: 'lower',
      reach: 2,
      beyond: 1.2,
    },
    { name: 'followed', title: '99th percentile of the first page of 100,000 followed threads', ...P99 },
    { name: 'followed-unread', title: 'the same of those with unread replies', ...P99 },
    { name: 'followed-later', title: 'the same of a page anywhere in them', ...P99 },
  ],
  async (room) => {
    const { chat, reader, bench, compare } = room
    const { user: outsider } = await chat.users.create(OPERATOR, { username: 'heidi', email: 'heidi@example.org' })
    const { user: other } = await chat.users.create(OPERATOR, { username: 'ivan', email: 'ivan@example.org' })
    const threads = messagesOf(bench) / 100
    for (let n = 1; n <= CONVERSATIONS; n++) {
      const followers = n <= FEW ? [reader.user_id, other.id] : [reader.user_id]
      await addFilled(room, n, { threads, replies: 1, followers }, [outsider.id])
    }
    await settle(contextOf(chat).db)
    const heidi = await chat.users.actor(outsider.id)
    const ivan = await chat.users.actor(other.id)

    const list = (actor: typeof reader, followedUnread: number) => async () => {
      const { conversations } = await chat.conversations.list(actor, { limit: CONVERSATIONS })
      const wrong = conversations.find(({ unread_replies }) => (unread_replies ?? 0) !== followedUnread)
      if (conversations.length !== CONVERSATIONS || wrong) throw new Error('the list is wrong')
    }
    const page = (query: { unread?: boolean; after?: string }) => async () => {
      const answer = await chat.threads.listFollowed(ivan, { limit: PAGE, ...query })
      if (answer.threads.length !== PAGE || answer.unread !== threads * FEW) throw new Error('the list is wrong')
      return answer.next_after!
    }
    let after = await page({})()
    const next = async () => {
      after = await page({ after })()
    }
    return {
      'list-followed': await compare(list(reader, threads), list(heidi, 0)),
      followed: await times(room, page({})),
      'followed-unread': await times(room, page({ unread: true })),
      'followed-later': await times(room, next),
    }
  },
)

/** The 99th percentile of each round, after one that is not counted. */
async function times({ bench: { rounds, seconds } }: MeasuredRoom, call: () => Promise<unknown>): Promise<Round[]> {
  const measured: Round[] = []
  for (let round = -1; round < rounds; round++) {
    const taken: number[] = []
    const end = performance.now() + seconds * 1000
    for (let now = performance.now(); now < end || taken.length < LEAST; ) {
      await call()
      const then = performance.now()
      taken.push(then - now)
      now = then
    }
    if (round >= 0) measured.push({ service: p99(taken) })
  }
  return measured
}
