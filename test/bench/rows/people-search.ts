import { indexOutdated } from '../../../lib/accounts/users/store-naming.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import type { Actor, Chat } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { copyRow } from '../filled/copy-row.ts'
import { p99 } from '../load/latency.ts'
import type { Bench, Round, Row } from '../row.ts'
import { withChat } from '../servers/people.ts'
import { libraryRows, type MeasuredRoom } from './library.ts'
import { messagesOf } from './reads.ts'

const NAME = 'people-search'
const SHARED = 'access-people'

/** How many of the names are of users with whom the searcher shares a private conversation. */
const SHARING = 10_000

/** Names are made of syllables: each user has two of a thousand, and a number in the username. */
const SYLLABLES = ['ka', 'lo', 'mi', 'ne', 'ru', 'sa', 'te', 'vo', 'wi', 'zu']

/** The users whose words are made at once. */
const BATCH = 2_000

/** The searches of a round, at least. */
const LEAST = 200

/** What one types: beginnings of one word and of two, words, and a username. */
const QUERIES = ['ka', 'kalo', 'kalomi', 'ka lo', 'kalomi sa', 'kalomi neruka', 'zuzuzu zuzuzu', 'kalomi12', 'unknown']

/** People are found by the beginnings of words of their names, with an index on either database. */
export const peopleSearch: Row[] = libraryRows(
  [
    {
      name: NAME,
      title: '99th percentile of a search for people among 1,000,000 names',
      unit: 'ms',
      better: 'lower',
      reach: 20,
      beyond: 5,
    },
    {
      name: SHARED,
      title: `99th percentile of a search among ${SHARING.toLocaleString('en-US')} of them, who share a conversation`,
      unit: 'ms',
      better: 'lower',
      reach: 60,
      beyond: 20,
    },
  ],
  async (room) => {
    const { chat, author, reader, bench, file } = room
    const count = messagesOf(bench)
    await fillUsers(room, count)
    const everybody = await times(chat, author, { ...bench, finds: true })
    await share(room, Math.min(SHARING, count / 10))
    const shared = await withChat(file, (service) => times(service, reader, { ...bench, finds: false }), {
      access: { find_users: 'shared' },
    })
    return { [NAME]: everybody, [SHARED]: shared }
  },
)

/** Adds users to the private conversation of the reader. */
async function share({ chat, reader, conversationId }: MeasuredRoom, count: number): Promise<void> {
  const { db } = contextOf(chat)
  await copyRow(db, {
    table: 'participants',
    where: sql`conversation_id = ${conversationId} AND user_id = ${reader.user_id}`,
    count,
    values: { user_id: `'filled-' || n` },
  })
  if (db.dialect === 'postgresql') await db.run(sql`VACUUM ANALYZE`)
}

/** Stores users who are copies of the reader but for their names, and makes the words of all. */
async function fillUsers({ chat, reader }: MeasuredRoom, count: number): Promise<void> {
  const { db } = contextOf(chat)
  const name = (from: number) => [0, 1, 2].map((place) => syllable(`n / ${10 ** (from + place)} % 10`)).join(' || ')
  const [given, family] = [name(0), name(3)]
  await copyRow(db, {
    table: 'users',
    where: sql`id = ${reader.user_id}`,
    count,
    values: {
      id: `'filled-' || n`,
      email: `'filled-' || n || '@example.org'`,
      email_key: `'filled-' || n || '@example.org'`,
      username: `${given} || n`,
      username_key: `${given} || n`,
      display_name: `${given} || ' ' || ${family}`,
      words_of: 'NULL',
    },
  })
  let indexed: number
  do indexed = await db.write((tx) => indexOutdated(tx, BATCH), { timeout: false })
  while (indexed > 0)
  if (db.dialect === 'postgresql') await db.run(sql`VACUUM ANALYZE`)
}

const syllable = (digit: string) =>
  `CASE ${digit} ${SYLLABLES.map((text, n) => `WHEN ${n} THEN '${text}'`).join(' ')} END`

/** The 99th percentile of each round, after one that is not counted. */
async function times(
  chat: Chat,
  searcher: Actor,
  { rounds, seconds, finds }: Bench & { finds: boolean },
): Promise<Round[]> {
  const measured: Round[] = []
  for (let round = -1; round < rounds; round++) {
    const taken: number[] = []
    const end = performance.now() + seconds * 1000
    for (let nth = 0; performance.now() < end || taken.length < LEAST; nth++) {
      const query = QUERIES[nth % QUERIES.length]!
      const began = performance.now()
      const { users } = await chat.users.search(searcher, { query, limit: 20 })
      taken.push(performance.now() - began)
      if (finds && users.length === 0 && query.startsWith('ka')) throw new Error(`no user was found by ${query}`)
    }
    if (round >= 0) measured.push({ service: p99(taken) })
  }
  return measured
}
