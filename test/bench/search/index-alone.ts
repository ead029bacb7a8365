// The indexes of a search alone, without a service: how fast they are written, how large they are, and what a search takes.
// npx tsx test/bench/search/index-alone.ts [messages] [sqlite|postgresql]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findEntries } from '../../../lib/chat/search/lookup.ts'
import { scopeWord } from '../../../lib/chat/search/rules.ts'
import { indexWords } from '../../../lib/chat/search/rules-indexed.ts'
import { FIRST_SPAN, nextSpan } from '../../../lib/chat/search/rules-lookup.ts'
import { type IndexTerm, indexTerms, parseQuery } from '../../../lib/chat/search/rules-query.ts'
import { measureIndex, openIndex, writeEntries } from '../../../lib/chat/search/word-index.ts'
import { openStorage } from '../../../lib/index.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { migrate } from '../../../lib/storage/schema/migrate.ts'
import { FIRST_DOC } from '../../../lib/storage/sql.ts'
import { startCluster } from '../../support/postgres.ts'
import { finish } from '../../support/steps.ts'
import { createCorpus, random } from './corpus.ts'

const MESSAGES = Number(process.argv[2] ?? 100_000)
const BATCH = Number(process.env.BATCH ?? 100)
const PROBES = Number(process.env.PROBES ?? 1000)
const corpus = createCorpus()

/** An id that ends as a random one does. */
const idOf = (n: number) => (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')

interface Index {
  db: Database
  close(): Promise<void>
}

async function open(database: string, remove: () => Promise<void> | void): Promise<Index> {
  const { db, close } = await openStorage({ database })
  await migrate(db)
  await openIndex(db)
  return {
    db,
    async close() {
      await close()
      await remove()
    },
  }
}

function sqlite(): Promise<Index> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-search-'))
  return open(`sqlite:${join(folder, 'chat.db')}`, () => rmSync(folder, { recursive: true }))
}

async function postgresql(): Promise<Index> {
  const cluster = (await startCluster())!
  return open(cluster.url, cluster.stop)
}

/** The newest documents with all of these words, in one of these conversations, as a search looks for them. */
async function find(db: Database, all: IndexTerm[], conversations: number[], limit: number): Promise<number[]> {
  const own = conversations.map((each) => scopeWord.conversation(idOf(each)))
  const wanted = { all, groups: [], own }
  const found: number[] = []
  let span = FIRST_SPAN
  for (let before = FIRST_DOC + MESSAGES; before > FIRST_DOC && found.length < limit; ) {
    const options = { timeout: 10_000, by_index: true } as const
    const { docs, low } = await db.snapshot(
      (tx) => findEntries(tx, wanted, { before, limit: 100, span, isFirst: false, expected: Number.POSITIVE_INFINITY }),
      options,
    )
    found.push(...docs)
    before = low
    span = nextSpan(span, { hits: docs.length, isDense: docs.length === 100 }, before - FIRST_DOC)
  }
  return found
}

const percent = (times: number[], part: number) =>
  times.sort((a, b) => a - b)[Math.floor((times.length - 1) * part)]!.toFixed(2)

async function measure(name: string, { db, close }: Index) {
  const began = performance.now()
  let [content, analysing] = [0, 0]
  const writes: number[] = []
  for (let n = 0; n < MESSAGES; n += BATCH) {
    const start = performance.now()
    const rows = Array.from({ length: BATCH }, (_, k) => {
      const { text, conversation, author } = corpus.message()
      content += Buffer.byteLength(text)
      const { inOrder, others } = finish(indexWords(text))
      const thread = idOf(Math.floor((n + k) / 20))
      const scope = [
        scopeWord.conversation(idOf(conversation)),
        scopeWord.author(idOf(author)),
        scopeWord.thread(thread),
      ]
      return { doc: FIRST_DOC + n + k, words: [...scope, ...inOrder, ...others] }
    })
    analysing += performance.now() - start
    const begin = performance.now()
    await db.write((tx) => writeEntries(tx, rows))
    writes.push(performance.now() - begin)
  }
  const seconds = (performance.now() - began) / 1000
  const { bytes } = await measureIndex(db)
  console.log(
    `${name}: ${MESSAGES} messages, ${(MESSAGES / seconds).toFixed(0)}/s (analysis and making of texts ${(analysing / 10 / seconds).toFixed(0)} %); ` +
      `batch of ${BATCH}: median ${percent(writes, 0.5)} p99 ${percent(writes, 0.99)} max ${percent(writes, 1)} ms; ` +
      `${(bytes / MESSAGES).toFixed(0)} bytes a message, ${(bytes / content).toFixed(2)} × content`,
  )
  const next = random(7)
  const rank = (from: number, to: number) => corpus.word(from + Math.floor(next() * (to - from)))
  const chinese = () => {
    for (;;) {
      const word = rank(0, 2000)
      if (/^\p{Script=Han}{2}$/u.test(word)) return word
    }
  }
  const kinds: Record<string, () => string> = {
    frequent: () => rank(0, 20),
    medium: () => rank(500, 1500),
    rare: () => rank(50_000, 100_000),
    two: () => `${rank(0, 50)} ${rank(100, 1000)}`,
    none: () => `${rank(0, 50)} ${rank(90_000, 100_000)}`,
    phrase: () => `"${rank(0, 10)} ${rank(0, 300)}"`,
    chinese,
    prefix: () => `${rank(100, 3000).slice(0, 3)}*`,
  }
  const mine = Array.from({ length: 100 }, (_, n) => n * 7)
  for (const [kind, make] of Object.entries(kinds))
    for (const [scope, conversations] of Object.entries({ mine, one: [40] })) {
      const times: number[] = []
      let found = 0
      for (let n = 0; n < PROBES; n++) {
        const { all } = parseQuery(make())
        const start = performance.now()
        found += (await find(db, all.flatMap(indexTerms), conversations, 21)).length
        times.push(performance.now() - start)
      }
      console.log(
        `  ${kind.padEnd(9)} ${scope.padEnd(5)} median ${percent(times, 0.5)} p99 ${percent(times, 0.99)} max ${percent(times, 1)} ms, ${(found / PROBES).toFixed(1)} found`,
      )
    }
  await close()
}

const only = process.argv[3]
if (only !== 'postgresql') await measure('sqlite', await sqlite())
if (only !== 'sqlite') await measure('postgresql', await postgresql())
