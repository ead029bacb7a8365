import { expect, it } from 'vitest'
import { childPath, ROOT_PATH } from '../../lib/chat/messages/rules.ts'
import { findNewestReply } from '../../lib/protocols/chats/placing.ts'
import { listVariants } from '../../lib/protocols/chats/store-branch.ts'
import { findNewestAnswer, findOwnUnderWay, findRunning } from '../../lib/protocols/chats/store-place.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { each, type Sql, sql, statement } from '../../lib/storage/sql.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeService } from '../support/describe-service.ts'
import { listNodes, listSteps, rowsReadBy } from '../support/plans.ts'
import { recordedQueries } from '../support/recorded.ts'
import { innerState, type Person, startService, startThread, type TestService, times } from '../support/service.ts'

const THREADS = 20
const REPLIES = 200

/** More than what is wanted, and far less than what a thread or a conversation has. */
const MAX_READ = 40

interface Answered extends TestService {
  ada: Person
  root_id: string
}

/** A service with an answer, and threads of its conversation, each with replies. */
async function startAnswered(url: string): Promise<Answered> {
  const puppet = createPuppet()
  const service = await startService(url, { ports: { assistant: puppet.assistant } })
  const { ada, conversation_id } = await startThread(service)
  const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
  const answer = await puppet.asked()
  answer.say('Because.')
  answer.end()
  await service.idle()
  await fill(innerState(service.chat).db, message_id)
  return Object.assign(service, { ada, root_id: message_id })
}

/** Stores threads with replies: copies of an answer. */
async function fill(db: Queries, rootId: string) {
  const columns = await db.all<{ name: string }>(
    db.dialect === 'sqlite'
      ? sql`SELECT name FROM pragma_table_info('messages')`
      : sql`SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'messages'`,
  )
  const own = ['id', 'root_id', 'parent_id', 'path', 'depth', 'created_at', 'reply_count', 'doc']
  const same = columns.flatMap(({ name }) => (own.includes(name) ? [] : [name])).join(', ')
  const columnsOf = sql`id, root_id, parent_id, path, depth, created_at, reply_count, ${statement(same)}`
  const paths = times(REPLIES, (n) => childPath(ROOT_PATH, n))
  for (const id of times(THREADS, (n) => `copy-${n}`)) {
    await db.run(
      sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
       SELECT ${id}, conversation_id, created_at, last_activity_at + ${Number(id.slice(5)) + 1}, 1, 1
         FROM threads WHERE root_id = ${rootId}`,
    )
    await db.run(
      sql`INSERT INTO messages (${columnsOf})
       SELECT ${id}, ${id}, NULL, path, 0, created_at, ${REPLIES}, ${statement(same)} FROM messages WHERE id = ${rootId}`,
    )
    await db.run(
      sql`INSERT INTO messages (${columnsOf})
       SELECT ${id} || '-' || at, ${id}, ${id}, at, 1, created_at, 0, ${statement(same)}
         FROM (SELECT value AS at FROM ${each(db, paths)}) replies, messages WHERE id = ${rootId}`,
    )
  }
}

const replyOf = (rootId: string, n: number) => `${rootId}-${childPath(ROOT_PATH, n)}`

/** What reads messages beyond what is wanted: of SQLite the steps that do not look up by a key, of PostgreSQL the nodes that read many. */
async function listScans(service: TestService, one: Sql): Promise<unknown[]> {
  const { db } = innerState(service.chat)
  if (db.dialect === 'sqlite') {
    const details = await listSteps(db, one)
    // In its order, so that the first one that fits ends it.
    const isOrdered = !details.some((detail) => detail.includes('TEMP B-TREE FOR ORDER BY'))
    const isNarrow = (detail: string) =>
      /\((id=\?|variant_of=\?|root_id=\? AND path=\?)\)/.test(detail) ||
      (isOrdered && detail.includes('_by_arrival (root_id=?)'))
    return details.filter((detail) => /^(SCAN|SEARCH) (m|o|r|messages)\b/.test(detail) && !isNarrow(detail))
  }
  const nodes = await listNodes(db, one)
  return nodes.filter((node) => node['Relation Name'] === 'messages' && rowsReadBy(node) > MAX_READ)
}

describeService('a chat among many messages', startAnswered, (service) => {
  it.each<[string, (db: Queries) => Promise<unknown>]>([
    ['answers of a user under way', (db) => findOwnUnderWay(db, service.root_id, service.ada.id)],
    ['what is written', (db) => findRunning(db, { user_id: service.ada.id, name: 'copy-1' }, { waiting: false })],
    [
      'what is written or waits',
      (db) => findRunning(db, { user_id: service.ada.id, name: 'copy-1' }, { waiting: true }),
    ],
    ['the newest answer of a thread', (db) => findNewestAnswer(db, 'copy-1')],
    ['the newest answer below a message', (db) => findNewestReply(db, 'copy-1')],
    ['the newest answer below a reply', (db) => findNewestReply(db, replyOf('copy-1', 7))],
    ['the variants of roots', (db) => listVariants(db, [service.root_id, 'copy-1'])],
    ['the variants of replies', (db) => listVariants(db, [replyOf('copy-1', 7), replyOf('copy-2', 8)])],
  ])('reads few of them for %s, also where the database knows nothing of them', async (_, find) => {
    const { db } = innerState(service.chat)
    const statements: Sql[] = []
    await find(recordedQueries(db, (text) => statements.push(text)))
    expect(statements).not.toEqual([])
    for (const analyze of [false, true]) {
      if (analyze) await db.run(sql`ANALYZE`)
      for (const one of statements) expect([one.text, await listScans(service, one)]).toEqual([one.text, []])
    }
  })
})
