import { beforeAll, expect, it } from 'vitest'
import { indexOutdated } from '../../../lib/accounts/users/store-naming.ts'
import { listSharing } from '../../../lib/chat/memberships/store-direct.ts'
import { findPeople } from '../../../lib/chat/people/find.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { copyRow } from '../../bench/filled/copy-row.ts'
import { describeService } from '../../support/describe-service.ts'
import { listNodes, listSteps } from '../../support/plans.ts'
import { recordedQueries } from '../../support/recorded.ts'
import { innerState, type Person } from '../../support/service.ts'

/** How many conversations the searcher is in, and how many users are called as the one who is searched for. */
const OWN = 2_000
const CALLED = 300

describeService('those who share a conversation with a user of thousands', (service) => {
  let ada: Person
  const called = Array.from({ length: CALLED }, (_, n) => `called-${n}`)

  beforeAll(async () => {
    const { db } = innerState(service.chat)
    await service.signIn('root')
    ada = await service.signIn('ada')
    const other = await service.signIn('other')
    const { conversation_id } = await ada.conversations.create({ title: 'Own' })
    await ada.participants.add(conversation_id, { user_id: other.id })
    const { conversation_id: elsewhere } = await other.conversations.create({ title: 'Elsewhere' })
    await copyRow(db, {
      table: 'conversations',
      where: sql`id = ${conversation_id}`,
      count: OWN,
      values: { id: `'own-' || n` },
    })
    await copyRow(db, {
      table: 'participants',
      where: sql`conversation_id = ${conversation_id} AND user_id = ${ada.id}`,
      count: OWN,
      values: { conversation_id: `'own-' || n` },
    })
    const names = { email: `'called-' || n`, email_key: `'called-' || n`, username: `'called-' || n` }
    await copyRow(db, {
      table: 'users',
      where: sql`id = ${other.id}`,
      count: CALLED,
      values: { id: `'called-' || n`, ...names, username_key: `'called-' || n` },
    })
    // All of them are together elsewhere, and the first is in one of the searcher's conversations.
    const where = sql`conversation_id = ${elsewhere} AND user_id = ${other.id}`
    await copyRow(db, { table: 'participants', where, count: CALLED, values: { user_id: `'called-' || n` } })
    const first = { user_id: `'called-' || n`, conversation_id: `'own-' || n` }
    await copyRow(db, { table: 'participants', where, count: 1, values: first })
    // By name, nearly all who are called so are before this one.
    await db.run(sql`UPDATE users SET username_key = 'called-last' WHERE id = 'called-5'`)
    await copyRow(db, {
      table: 'participants',
      where,
      count: 1,
      values: { user_id: `'called-5'`, conversation_id: `'own-1'` },
    })
    if (db.dialect === 'postgresql') await db.run(sql`ANALYZE`)
  })

  it('are found without a look at all of those conversations for each who is called so', async () => {
    expect(await readOf(innerState(service.chat).db, ada.id, called)).toEqual({
      found: expect.toSatisfy((ids: string[]) => ids.sort().join() === 'called-0,called-5'),
      // Far from the product of both numbers.
      isQuick: true,
    })
  })

  it('are all found by name, of however many others with that name', async () => {
    const { db } = innerState(service.chat)
    expect(await db.write((tx) => indexOutdated(tx, 2 * CALLED))).toBeGreaterThan(0)
    const found = await findPeople(db, { user_id: ada.id, query: 'called', limit: 20, isShared: true })
    expect(found.map(({ id }) => id)).toEqual(['called-0', 'called-5'])
  })

  it('and one in thousands of conversations by a searcher in few', async () => {
    const { db } = innerState(service.chat)
    expect(await readOf(db, 'called-0', [ada.id])).toEqual({ found: [ada.id], isQuick: true })
    expect(await readOf(db, 'called-1', [ada.id])).toEqual({ found: [], isQuick: true })
  })
})

/** Those found, and whether few rows were read for that: as PostgreSQL counts them, or by the plan of SQLite. */
async function readOf(db: Queries, userId: string, ids: string[]) {
  const statements: Sql[] = []
  const found = await listSharing(
    recordedQueries(db, (text) => statements.push(text)),
    userId,
    ids,
  )
  // Before it, the conversations of each are counted.
  const statement = statements.at(-1)
  if (db.dialect === 'sqlite') {
    const others = (await listSteps(db, statement!)).filter((detail) => /\bother\b/.test(detail))
    // In both orders, one look-up for each conversation of who has fewer.
    const isLookUp = (detail: string) =>
      /user_id=\? AND conversation_id=\?|conversation_id=\? AND user_id=\?/.test(detail)
    return { found, isQuick: others.length === 2 && others.every(isLookUp) }
  }
  const nodes = await listNodes(db, statement!)
  const read = nodes.reduce((sum, node) => sum + node['Actual Loops'] * node['Actual Rows'], 0)
  return { found, isQuick: read < 10 * (ids.length + 10) }
}
