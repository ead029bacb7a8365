import { beforeAll, expect, it } from 'vitest'
import { listSharing } from '../../../lib/chat/memberships/store-direct.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { copyRow } from '../../bench/filled/copy-row.ts'
import { describeService } from '../../support/describe-service.ts'
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
    if (db.dialect === 'postgresql') await db.run(sql`ANALYZE`)
  })

  it('are found without a look at all of those conversations for each who is called so', async () => {
    const { db } = innerState(service.chat)
    let statement: Sql | undefined
    const seen: Queries = {
      ...db,
      all(text) {
        statement = text
        return db.all(text)
      },
    }
    expect(await listSharing(seen, ada.id, called)).toEqual(['called-0'])
    if (db.dialect === 'sqlite') {
      const steps = await db.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${statement!}`)
      const own = steps.find(({ detail }) => /\bown\b/.test(detail))!
      // One look-up for each conversation of who is called so.
      expect(own.detail).toMatch(/user_id=\? AND conversation_id=\?|conversation_id=\? AND user_id=\?/)
      return
    }
    const plan = await db.all<Record<string, { Plan: PlanNode }[]>>(sql`EXPLAIN (ANALYZE, FORMAT JSON) ${statement!}`)
    const nodes = nodesOf(Object.values(plan[0]!)[0]![0]!.Plan)
    const read = nodes.reduce((sum, node) => sum + node['Actual Loops'] * node['Actual Rows'], 0)
    // Far from the product of both numbers.
    expect(read).toBeLessThan(10 * (OWN + CALLED))
  })
})

interface PlanNode {
  Plans?: PlanNode[]
  'Actual Rows': number
  'Actual Loops': number
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
