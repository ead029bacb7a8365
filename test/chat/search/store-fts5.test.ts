import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Entry, PARTITION, partitionOf } from '../../../lib/chat/search/rules.ts'
import {
  findInPartition,
  listPartitions,
  listUnmerged,
  mergePartition,
  partitionTable,
  writeRows,
} from '../../../lib/chat/search/store-fts5.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { checkHere } from '../../../lib/ops/fsck/integrity-process.ts'
import { hasTable } from '../../../lib/storage/catalog.ts'
import type { Database, Queries } from '../../../lib/storage/database.ts'
import { findDatabaseFile } from '../../../lib/storage/place.ts'
import { FIRST_DOC, type Sql, sql, statement } from '../../../lib/storage/sql.ts'
import { innerState, type Person, startService, type TestService, times } from '../../support/service.ts'
import { skipPartition } from './skip-partition.ts'

const NEWEST = partitionOf(FIRST_DOC)

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'chat-partitions-'))
  const file = join(folder, 'chat.db')
  const service = await startService(`sqlite:${file}`)
  onTestFinished(async () => {
    await service.close()
    rmSync(folder, { recursive: true })
  })
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create({})
  const bytes = () => [file, `${file}-wal`].map((each) => readFileSync(each, 'latin1')).join('')
  return { service, db: innerState(service).db, ada, conversation_id, bytes }
}

/** Posts in three partitions: numbered from 0, of which each seventh has a word of its own. */
async function postInThree(service: TestService, by: Person, conversationId: string): Promise<string[]> {
  const ids: string[] = []
  for (const n of times(42, (n) => n)) {
    if (n === 14 || n === 28) await skipPartition(service)
    const content = `lasting ${n}${n % 7 === 0 ? ' seventh vanishing' : ''}`
    ids.push((await by.messages.postRoot(conversationId, { content })).message_id)
  }
  await innerState(service).search.move()
  return ids
}

const segments = async (db: Database, partition: number) =>
  (await db.get<{ total: number }>(
    statement(`SELECT count(DISTINCT segid) AS total FROM ${partitionTable(partition)}_idx`),
  ))!.total

it('a search goes from the newest partition to the oldest, page by page', async () => {
  const { service, db, ada, conversation_id } = await start()
  await postInThree(service, ada, conversation_id)
  expect(await listPartitions(db)).toEqual([NEWEST + 2, NEWEST + 1, NEWEST])
  const find = async (q: string, limit = 50) => {
    const found: string[] = []
    for (let cursor: string | undefined, n = 0; n === 0 || cursor; n++) {
      const page = await ada.search.messages({ q, limit, ...(cursor && { cursor }) })
      found.push(...page.results.map(({ message }) => message.content.split(' ')[1]!))
      cursor = page.next_cursor
    }
    return found.map(Number)
  }
  const all = times(42, (n) => 41 - n)
  expect(await find('lasting')).toEqual(all)
  expect(await find('lasting', 5)).toEqual(all)
  expect(await find(`lasting in:${conversation_id}`, 5)).toEqual(all)
  expect(await find('seventh')).toEqual(all.filter((n) => n % 7 === 0))
  expect(await find('"lasting 3"')).toEqual([3])
  expect(await service.chat.search.status(OPERATOR)).toMatchObject({ documents: 42, waiting: 0 })
  expect((await service.chat.ops.fsck()).findings).toEqual([])
})

it('erased words leave the files, of whatever partition', async () => {
  const { service, db, ada, conversation_id, bytes } = await start()
  const gone = await ada.conversations.create({})
  await ada.messages.postRoot(gone.conversation_id, { content: 'erased0 first' })
  await postInThree(service, ada, conversation_id)
  await ada.messages.postRoot(gone.conversation_id, { content: 'erased1 last' })
  await innerState(service).search.move()
  expect(bytes()).toContain('rased1')
  await ada.conversations.remove(gone.conversation_id)
  await innerState(service).tasks.settle()
  expect(bytes()).toContain('asting')
  expect(bytes()).not.toMatch(/rased[01]/)
  expect(await listUnmerged(db)).toEqual([])
  expect((await service.chat.ops.fsck()).findings).toEqual([])
})

it('a partition is merged when a newer one begins, and the newest is left as it is', async () => {
  const { service, db, ada, conversation_id } = await start()
  await postInThree(service, ada, conversation_id)
  await innerState(service).tasks.settle()
  while ((await segments(db, NEWEST + 2)) < 2) {
    await ada.messages.postRoot(conversation_id, { content: 'another segment' })
    await innerState(service).search.move()
  }
  await innerState(service).tasks.settle()
  expect([await segments(db, NEWEST), await segments(db, NEWEST + 1)]).toEqual([1, 1])
  expect(await segments(db, NEWEST + 2)).toBeGreaterThan(1)
  expect(await listUnmerged(db)).toEqual([])
})

it('a rebuild leaves one segment in each partition but the newest', async () => {
  const { service, db, ada, conversation_id } = await start()
  await postInThree(service, ada, conversation_id)
  await service.chat.search.rebuild(OPERATOR, { from_scratch: true })
  await innerState(service).tasks.settle()
  expect([await segments(db, NEWEST), await segments(db, NEWEST + 1)]).toEqual([1, 1])
  expect((await ada.search.messages({ q: 'lasting', limit: 50 })).results).toHaveLength(42)
  expect((await service.chat.ops.fsck()).findings).toEqual([])
})

it('the index of an older version is removed at the start, also by several processes at once, and without a search', async () => {
  const { service, db, ada, conversation_id } = await start()
  await ada.messages.postRoot(conversation_id, { content: 'lasting' })
  await innerState(service).search.move()
  const url = `sqlite:${await findDatabaseFile(db)}`
  const form = () => db.run(sql`CREATE VIRTUAL TABLE search_index USING fts5 (words, content='', contentless_delete=1)`)
  for (const config of [{}, { search: { enabled: false } }]) {
    await form()
    const others = await Promise.all(times(3, () => startService(url, { config })))
    await Promise.all(others.map((other) => other.close()))
    expect(await hasTable(db, 'search_index')).toBe(false)
  }
})

it('a check of the file finds nothing while another process merges partitions', async () => {
  const { db } = await start()
  const other = await startService(`sqlite:${await findDatabaseFile(db)}`)
  onTestFinished(other.close)
  const write = (n: number) => innerState(other).db.write((tx) => writeRows(tx, [{ doc: n, words: [`word${n}`] }]))
  const merge = (isFirst: boolean) =>
    innerState(other).db.write((tx) => mergePartition(tx, 0, Number.MAX_SAFE_INTEGER, isFirst))
  for (const n of times(5, (n) => n + 1)) await write(n)
  /** Another process merges the segments that a query of the check has seen. */
  const interrupted = <Q extends Queries>(queries: Q): Q => ({
    ...queries,
    async get<T>(sql: Sql) {
      const row = await queries.get<T>(sql)
      await merge(true)
      await merge(false)
      return row
    },
  })
  const checked = await checkHere(
    { ...interrupted(db), snapshot: (work, options) => db.snapshot((tx) => work(interrupted(tx)), options) },
    [0],
  )
  expect(checked.lines).toEqual([])
})

it('rows have every number of a partition, and none of its neighbours', async () => {
  const { db } = await start()
  const first = (NEWEST + 5) * PARTITION
  const docs = [first - 1, first, first + 1, first + PARTITION - 1, first + PARTITION]
  const entries = docs.map((doc): Entry => ({ doc, words: ['edge'] }))
  await db.write((tx) => writeRows(tx, entries))
  const find = (before: number, limit = 10) => findInPartition(db, NEWEST + 5, { match: '"edge"', before, limit })
  expect(await find(first + 2 * PARTITION)).toEqual([first + PARTITION - 1, first + 1, first])
  expect(await find(first + PARTITION - 1)).toEqual([first + 1, first])
  expect(await find(first + 1)).toEqual([first])
  expect(await find(first)).toEqual([])
  expect(await find(first + 2 * PARTITION, 2)).toEqual([first + PARTITION - 1, first + 1])
  await db.write((tx) => writeRows(tx, [{ doc: first, words: [] }]))
  expect(await find(first + 1)).toEqual([])
})
