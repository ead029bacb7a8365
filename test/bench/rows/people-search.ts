import { indexOutdated } from '../../../lib/accounts/users/store-naming.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { literal, sql, statement } from '../../../lib/storage/sql.ts'
import { p99 } from '../load/latency.ts'
import type { Round, Row } from '../row.ts'
import { libraryRows, type MeasuredRoom } from './library.ts'
import { messagesOf } from './reads.ts'

const NAME = 'people-search'

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
  ],
  async (room) => {
    await fillUsers(room, messagesOf(room.bench))
    return { [NAME]: await times(room) }
  },
)

/** Stores users who are copies of the reader but for their names, and makes the words of all. */
async function fillUsers({ chat, reader }: MeasuredRoom, count: number): Promise<void> {
  const { db } = contextOf(chat)
  const row = await db.get<Record<string, unknown>>(sql`SELECT * FROM users WHERE id = ${reader.user_id}`)
  const n = statement('n')
  const name = (from: number) => [0, 1, 2].map((place) => syllable(`n / ${10 ** (from + place)} % 10`)).join(' || ')
  const [given, family] = [name(0), name(3)]
  const values: Record<string, string> = {
    id: `'filled-' || n`,
    email: `'filled-' || n || '@example.org'`,
    email_key: `'filled-' || n || '@example.org'`,
    username: `${given} || n`,
    username_key: `${given} || n`,
    display_name: `${given} || ' ' || ${family}`,
    words_of: 'NULL',
  }
  const columns = Object.keys(row!)
  const numbers = sql`(WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${literal(count - 1)})
      SELECT ${n} FROM counted) AS numbers`
  await db.write(
    (tx) =>
      tx.run(
        sql`INSERT INTO users (${statement(columns.join(', '))})
            SELECT ${statement(columns.map((column) => values[column] ?? `users.${column}`).join(', '))}
              FROM ${numbers} CROSS JOIN users WHERE users.id = ${reader.user_id}`,
      ),
    { timeout: false },
  )
  let indexed: number
  do indexed = await db.write((tx) => indexOutdated(tx, BATCH), { timeout: false })
  while (indexed > 0)
  if (db.dialect === 'postgresql') await db.run(sql`VACUUM ANALYZE`)
}

const syllable = (digit: string) =>
  `CASE ${digit} ${SYLLABLES.map((text, n) => `WHEN ${n} THEN '${text}'`).join(' ')} END`

/** The 99th percentile of each round, after one that is not counted. */
async function times({ chat, author, bench: { rounds, seconds } }: MeasuredRoom): Promise<Round[]> {
  const measured: Round[] = []
  for (let round = -1; round < rounds; round++) {
    const taken: number[] = []
    const end = performance.now() + seconds * 1000
    for (let nth = 0; performance.now() < end || taken.length < LEAST; nth++) {
      const query = QUERIES[nth % QUERIES.length]!
      const began = performance.now()
      const { users } = await chat.users.search(author, { query, limit: 20 })
      taken.push(performance.now() - began)
      if (users.length === 0 && query.startsWith('ka')) throw new Error(`no user was found by ${query}`)
    }
    if (round >= 0) measured.push({ service: p99(taken) })
  }
  return measured
}
