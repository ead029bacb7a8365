import { setTimeout as delay } from 'node:timers/promises'
import { contextOf } from '../../../lib/core/context-of.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { p99, timeRequest } from '../load/latency.ts'
import { postSteadily } from '../load/steady.ts'
import { postTemplate } from '../load/template.ts'
import { progress } from '../report.ts'
import type { Row } from '../row.ts'
import { searchesOf } from '../search/queries.ts'
import { type Searchable, seedSearch } from '../search/seed.ts'
import { onEachDatabase, type Running } from '../servers/each-database.ts'
import { withChat } from '../servers/people.ts'

const MESSAGES = 1_000_000

/** The number of messages for short rounds (`--quick`). */
const QUICK_MESSAGES = 20_000
const QUICK_SECONDS = 1

/** The posts beside which the index is filled. */
const POSTS_PER_SECOND = 100

/** How often a fill is looked at. */
const LOOK_MS = 100

/** The searches of each kind, with and without `in`. */
const OF_A_KIND = 20

/** The searches of a round. */
const LEAST = 500

/** The figures of one database. */
interface Figures {
  /** 99th percentiles of a search, in milliseconds. */
  times: number[]
  filled_per_second: number
  /** The bytes of the index for each byte of the texts. */
  size: number
}

/** One fill of the index serves all rows: it takes longest. */
const each = onEachDatabase<Figures>(
  async (database, { rounds, seconds }) => {
    const messages = seconds > QUICK_SECONDS ? MESSAGES : QUICK_MESSAGES
    if (messages < MESSAGES) progress(`  of ${messages.toLocaleString('en-US')} messages only`)
    const seeded = await seedSearch(database, messages)
    return async (service) => {
      const filled = await untilFilled(database, service, seeded)
      const { bytes, documents } = await withChat(database, (chat) => chat.search.status(OPERATOR))
      if (documents < messages) throw new Error(`the index has only ${documents} messages`)
      const request = searchesOf(seeded, OF_A_KIND).map(({ kind: _, ...query }) =>
        httpRequest('GET', `/api/search?${new URLSearchParams(query)}`, seeded.reader),
      )
      const times: number[] = []
      for (let round = 0; round <= rounds; round++) {
        const measured: number[] = []
        while (measured.length < LEAST) measured.push(...(await timeRequest({ ...service, request }, seconds)))
        times.push(p99(measured))
      }
      // The first one is to warm up.
      return { times: times.slice(1), filled_per_second: messages / filled, size: bytes / seeded.content }
    }
  },
  { CHAT_SEARCH__PER_USER_PER_MIN: '100000' },
)

/** Waits for the fill that the service begins with its start, beside posts. @returns the seconds that it takes */
async function untilFilled(database: string, { port }: Running, { reader, places }: Searchable): Promise<number> {
  const { fail, or } = createFailure()
  const began = performance.now()
  const post = postTemplate(`/api/messages/${places.at(-1)!.root_id}/reply`, reader.headers)
  const posts = postSteadily({ port, post }, POSTS_PER_SECOND, fail)
  try {
    return await withChat(database, async (chat) => {
      const { db } = contextOf(chat)
      while (await db.get(sql`SELECT 1 AS one FROM tasks WHERE kind = 'search.fill'`)) await or(delay(LOOK_MS))
      const ms = performance.now() - began
      await or(posts.stop())
      return ms / 1000
    })
  } finally {
    posts.close()
  }
}

const of = `${MESSAGES.toLocaleString('en-US')} messages`

/** The goals differ: an index of PostgreSQL is larger and slower. */
export const search = each.flatMap(({ suffix, on, unavailable, measure }): Row[] => {
  const isPostgres = suffix !== ''
  return [
    {
      name: `search-p99${suffix}`,
      title: `99th percentile of a search among ${of}, one at a time${on}`,
      unit: 'ms',
      better: 'lower',
      reach: isPostgres ? 50 : 25,
      beyond: isPostgres ? 25 : 12,
      unavailable,
      measure: async (bench) => (await measure(bench)).times.map((service) => ({ service })),
    },
    {
      name: `search-rebuild${suffix}`,
      title: `messages a second taken into the index of ${of}, beside ${POSTS_PER_SECOND} posts a second${on}`,
      unit: '/s',
      better: 'higher',
      reach: isPostgres ? 8_000 : 20_000,
      beyond: isPostgres ? 12_000 : 30_000,
      unavailable,
      measure: async (bench) => [{ service: (await measure(bench)).filled_per_second }],
    },
    {
      name: `search-size${suffix}`,
      title: `size of the index of ${of}, as a part of their texts${on}`,
      unit: '×',
      better: 'lower',
      reach: isPostgres ? 2 : 0.7,
      beyond: isPostgres ? 1 : 0.5,
      unavailable,
      measure: async (bench) => [{ service: (await measure(bench)).size }],
    },
  ]
})
