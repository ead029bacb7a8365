// The indexes of a search alone, without a service: how fast they are written, how large they are, and what a search takes.
// npx tsx test/bench/search/index-alone.ts [messages] [sqlite|postgresql]
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { atomsOf, indexWords } from '../../../lib/chat/search/rules-words.ts'
import { startCluster } from '../../support/postgres.ts'
import { createCorpus, random } from './corpus.ts'

const MESSAGES = Number(process.argv[2] ?? 100_000)
const BATCH = Number(process.env.BATCH ?? 100)
const corpus = createCorpus()
const FIRST = 2 ** 40
const PROBES = 300

/** The word of a conversation, an author or a thread: a few characters of its id, as each hit is checked anyway. */
const scope = (kind: string, n: number) =>
  `#${kind}${(Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}`

interface Index {
  write(rows: { doc: number; words: string[] }[]): Promise<void>
  /** The newest documents below `before` with all of these words, in one of these conversations. */
  find(words: string[], conversations: number[] | undefined, limit: number): Promise<number[]>
  bytes(): Promise<number>
  close(): Promise<void>
}

function sqlite(): Index {
  const folder = mkdtempSync(join(tmpdir(), 'chat-search-'))
  const db = new Database(join(folder, 'search.db'))
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.exec(
    `CREATE VIRTUAL TABLE search USING fts5(words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '#'")`,
  )
  if (process.env.AUTOMERGE) db.exec(`INSERT INTO search(search, rank) VALUES('automerge', ${process.env.AUTOMERGE})`)
  const insert = db.prepare('INSERT INTO search(rowid, words) VALUES (?, ?)')
  const merge = db.prepare(`INSERT INTO search(search, rank) VALUES('merge', ?)`)
  const write = db.transaction((rows: { doc: number; words: string[] }[]) => {
    for (const { doc, words } of rows) insert.run(doc, words.join(' '))
    if (process.env.MERGE) merge.run(Number(process.env.MERGE))
  })
  const find = db.prepare('SELECT rowid AS doc FROM search(?) WHERE rowid < ? ORDER BY rowid DESC LIMIT ?')
  return {
    async write(rows) {
      write(rows)
    },
    async find(words, conversations, limit) {
      const quoted = words.map((word) => (word.endsWith('*') ? `"${word.slice(0, -1)}" *` : `"${word}"`)).join(' AND ')
      const among = conversations && ` AND (${conversations.map((each) => `"${scope('c', each)}"`).join(' OR ')})`
      return find.all(quoted + (among ?? ''), 2 ** 52, limit).map((row) => (row as { doc: number }).doc)
    },
    async bytes() {
      db.pragma('wal_checkpoint(TRUNCATE)')
      return statSync(join(folder, 'search.db')).size
    },
    async close() {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Documents that one word names, so that a search reads the newest ones first. */
const BLOCK = Number(process.env.BLOCK ?? 16_384)
async function postgresql(): Promise<Index> {
  const cluster = (await startCluster())!
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  await client.query('CREATE TABLE search_docs (doc BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)')
  await client.query('CREATE INDEX search_by_word ON search_docs USING gin (words) WITH (fastupdate = off)')
  let last = FIRST
  return {
    async write(rows) {
      last = rows.at(-1)!.doc
      const given = rows.map(({ doc, words }) => ({ doc, words: [...words, `#b${Math.floor(doc / BLOCK)}`] }))
      await client.query(
        `INSERT INTO search_docs SELECT doc, array_to_tsvector(words) FROM json_to_recordset($1) AS given(doc bigint, words text[])`,
        [JSON.stringify(given)],
      )
    },
    async find(words, conversations, limit) {
      const quoted = words.map((word) => (word.endsWith('*') ? `'${word.slice(0, -1)}':*` : `'${word}'`)).join(' & ')
      const among = conversations ? ` & (${conversations.map((each) => `'${scope('c', each)}'`).join(' | ')})` : ''
      const found: number[] = []
      let block = Math.floor(last / BLOCK)
      const end = Math.floor(FIRST / BLOCK)
      for (let size = 1; block >= end && found.length < limit; size *= 4) {
        const to = Math.max(end, block - size + 1)
        const blocks = Array.from({ length: block - to + 1 }, (_, n) => `'#b${block - n}'`).join(' | ')
        const { rows } = await client.query(
          'SELECT doc FROM search_docs WHERE words @@ $1::tsquery ORDER BY doc DESC LIMIT $2',
          [`${quoted}${among} & (${blocks})`, limit - found.length],
        )
        found.push(...rows.map(({ doc }) => Number(doc)))
        block = to - 1
      }
      return found
    },
    async bytes() {
      const { rows } = await client.query("SELECT pg_total_relation_size('search_docs') AS size")
      return Number(rows[0].size)
    },
    async close() {
      await client.end()
      await cluster.stop()
    },
  }
}

const percent = (times: number[], part: number) =>
  times.sort((a, b) => a - b)[Math.floor((times.length - 1) * part)]!.toFixed(2)

async function measure(name: string, index: Index) {
  const began = performance.now()
  let [content, analysing] = [0, 0]
  const writes: number[] = []
  for (let n = 0; n < MESSAGES; n += BATCH) {
    const start = performance.now()
    const rows = Array.from({ length: BATCH }, (_, k) => {
      const { text, conversation, author } = corpus.message()
      content += Buffer.byteLength(text)
      const words = [
        ...indexWords(atomsOf(text)),
        scope('c', conversation),
        scope('u', author),
        scope('t', Math.floor((n + k) / 20)),
      ]
      return { doc: FIRST + n + k, words }
    })
    analysing += performance.now() - start
    const begin = performance.now()
    await index.write(rows)
    writes.push(performance.now() - begin)
  }
  const seconds = (performance.now() - began) / 1000
  const bytes = await index.bytes()
  console.log(
    `${name}: ${MESSAGES} messages, ${(MESSAGES / seconds).toFixed(0)}/s (analysis and making of texts ${(analysing / 10 / seconds).toFixed(0)} %); ` +
      `batch of ${BATCH}: median ${percent(writes, 0.5)} p99 ${percent(writes, 0.99)} max ${percent(writes, 1)} ms; ` +
      `${(bytes / MESSAGES).toFixed(0)} bytes a message, ${(bytes / content).toFixed(2)} × content`,
  )
  const next = random(7)
  const rank = (from: number, to: number) => corpus.word(from + Math.floor(next() * (to - from)))
  const chinese = () => [...indexWords(atomsOf(rank(0, 2000)))].find((word) => /^\p{Script=Han}{2}$/u.test(word))
  const kinds: Record<string, () => string[]> = {
    frequent: () => [...indexWords(atomsOf(rank(0, 20)))],
    medium: () => [...indexWords(atomsOf(rank(500, 1500)))],
    rare: () => [...indexWords(atomsOf(rank(50_000, 100_000)))],
    two: () => [...indexWords(atomsOf(`${rank(0, 50)} ${rank(100, 1000)}`))],
    none: () => [...indexWords(atomsOf(`${rank(0, 50)} ${rank(90_000, 100_000)}`))],
    chinese: () => [chinese() ?? chinese() ?? chinese() ?? '我们'],
    prefix: () => [`${rank(100, 3000).slice(0, 3)}*`],
  }
  const mine = Array.from({ length: 100 }, (_, n) => n * 7)
  for (const [kind, make] of Object.entries(kinds))
    for (const [scope, conversations] of Object.entries({ mine, one: [40] })) {
      const times: number[] = []
      let found = 0
      for (let n = 0; n < PROBES; n++) {
        const words = make()
        const start = performance.now()
        found += (await index.find(words, conversations, 21)).length
        times.push(performance.now() - start)
      }
      console.log(
        `  ${kind.padEnd(9)} ${scope.padEnd(5)} median ${percent(times, 0.5)} p99 ${percent(times, 0.99)} max ${percent(times, 1)} ms, ${(found / PROBES).toFixed(1)} found`,
      )
    }
  await index.close()
}

const only = process.argv[3]
if (only !== 'postgresql') await measure('sqlite', sqlite())
if (only !== 'sqlite') await measure('postgresql', await postgresql())
