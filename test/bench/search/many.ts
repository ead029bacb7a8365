// Searches among any number of messages, one at a time: fills a database and its index without pauses, and measures each kind.
// npx tsx test/bench/search/many.ts [messages] [sqlite|postgresql] [searches of each kind]
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { entryWords } from '../../../lib/chat/search/rules.ts'
import { takeOlder } from '../../../lib/chat/search/store-fill.ts'
import { listTexts } from '../../../lib/chat/search/store-texts.ts'
import { writeEntries } from '../../../lib/chat/search/word-index.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { finish } from '../../support/steps.ts'
import { withPostgres } from '../servers/databases.ts'
import { withChat } from '../servers/people.ts'
import { newDatabase, urlOf } from '../servers/service.ts'
import { searchesOf } from './queries.ts'
import { type Searchable, seedSearch } from './seed.ts'

const MESSAGES = Number(process.argv[2] ?? 1_000_000)
const EACH = Number(process.argv[4] ?? 100)

/** The messages of a transaction: as many as a fill takes at most. */
const BATCH = 400

/** How often the progress is printed, in messages. */
const TOLD = 500_000

/** What is ahead of the measured searches of a kind. */
const WARM = 10

/** As the fill of a service does, without its pauses. */
async function fillIndex(db: Database): Promise<void> {
  let [before, done]: [string | undefined, number] = ['g', 0]
  while (before !== undefined) {
    const last: string = before
    before = await db.write(async (tx) => {
      const { messages, next } = await takeOlder(tx, last, BATCH)
      const docs = messages.map(({ doc }) => doc)
      const texts = docs.length > 0 ? await listTexts(tx, docs, Number.MAX_SAFE_INTEGER) : []
      await writeEntries(
        tx,
        texts.map((text) => ({ doc: text.doc, words: finish(entryWords(text)) })),
      )
      done += docs.length
      return next
    })
    if (done % TOLD < BATCH) console.log(`${done} in the index`)
  }
  await db.run(sql`DELETE FROM tasks WHERE kind = 'search.fill'`)
}

const percent = (times: number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * part)]!.toFixed(1)

async function measure(database: string, { reader, ...seeded }: Searchable): Promise<void> {
  const search = { per_user_per_min: 100_000, budget_ms: 5_000 }
  const chat = createChatService(parseConfig({ search }), await openStorage({ database: urlOf(database) }))
  await chat.start({ background: false })
  const actor = await chat.users.actor(reader.user_id)
  const times = new Map<string, number[]>()
  const asked = searchesOf(seeded, WARM + EACH)
  for (const [n, { kind, ...query }] of asked.entries()) {
    const began = performance.now()
    const { partial } = await chat.search.messages(actor, query)
    const of = times.get(kind) ?? []
    times.set(kind, of)
    if (n >= asked.length - EACH * times.size) of.push(partial ? search.budget_ms : performance.now() - began)
  }
  for (const [kind, of] of times) console.log(`${kind}: median ${percent(of, 0.5)}, p99 ${percent(of, 0.99)} ms`)
  console.log(`all: p99 ${percent([...times.values()].flat(), 0.99)} ms`)
  const { documents, bytes } = await chat.search.status(OPERATOR)
  console.log(`${documents} messages, ${(bytes / seeded.content).toFixed(2)} × their texts`)
  await chat.close()
}

async function run(database: string): Promise<void> {
  const seeded = await seedSearch(database, MESSAGES)
  await withChat(database, (chat) => fillIndex(contextOf(chat).db))
  await measure(database, seeded)
}

if (process.argv[3] === 'postgresql') await withPostgres(async ({ create }) => run(await create()))
else {
  const database = newDatabase()
  await run(database).finally(() => rmSync(dirname(database), { recursive: true, force: true }))
}
