import { expect, it } from 'vitest'
import { listDecidable } from '../../../lib/chat/approvals/store.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { among, each, type Sql, sql } from '../../../lib/storage/sql.ts'
import { fillApprovals } from '../../bench/filled/approvals.ts'
import { describeService } from '../../support/describe-service.ts'
import { listNodes, listSteps, rowsReadBy } from '../../support/plans.ts'
import { recorded, recordedQueries } from '../../support/recorded.ts'
import { innerState, type Person, startService, type TestService, times } from '../../support/service.ts'

/** The calls that wait in each conversation on which Grace may decide; in more of hers far more wait on which others decide. */
const CALLS = 10
const OTHERS = { rooms: 250, calls: 12 }

/** The calls that were decided in one of the first. */
const DECIDED = 5_000

/** As many as are looked at before those on which a user may decide are searched; more of the conversations of Grace wait. */
const MAX_READ = 256

const MANAGING = ['owner', 'admin']

interface Rooms extends TestService {
  grace: Person
  /** The statements that have read approvals so far. */
  reads: Sql[]
  /** By who decides: conversations of Ada with Grace, oldest first. */
  rooms: Record<'managed' | 'of_members' | 'own_question' | 'left' | 'other', string[]>
}

async function startRooms(url: string): Promise<Rooms> {
  const reads: Sql[] = []
  const wrap = recorded((one) => {
    if (one.text.includes('own.role, v.policy')) reads.push(one)
  })
  const service = await startService(url, { wrap })
  const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
  const { conversations, participants, users } = service.chat
  const owner = await users.actor(ada.id)
  const create = async (count: number) => {
    const ids: string[] = []
    for (let n = 0; n < count; n++) {
      const { conversation_id } = await conversations.create(owner, { title: 'Open' })
      await participants.add(owner, conversation_id, { user_id: grace.id })
      ids.push(conversation_id)
    }
    return ids
  }
  const [managed, of_members, own_question] = [await create(2), await create(2), await create(2)]
  const [left, other] = [await create(1), await create(OTHERS.rooms)]
  const { db } = innerState(service)
  const hers = [...managed, ...of_members, ...own_question, ...left]
  await fillApprovals(db, { rooms: hers, calls: CALLS, asker: ada.id })
  await fillApprovals(db, { rooms: other, calls: OTHERS.calls, asker: ada.id })
  for (const id of managed) await ada.participants.changeRole(id, grace.id, { role: 'admin' })
  const set = (change: Sql, rooms: string[]) =>
    db.run(sql`UPDATE tool_calls SET ${change} WHERE conversation_id ${among(db, rooms)}`)
  await set(sql`approvers = 'members'`, [...of_members, ...left])
  await set(sql`approvers = 'asker', user_id = ${grace.id}`, own_question)
  await ada.participants.remove(left[0]!, grace.id)
  // What was decided long ago, of which there may be any number.
  await db.run(
    sql`INSERT INTO tool_calls (id, message_id, conversation_id, user_id, part_id, step, name, state, requested_at, approval,
            approvers, quorum, not_asker, by_keys, expires_at, decided_at)
     SELECT value, ${managed[0]!}, ${managed[0]!}, ${grace.id}, 0, 1, 'pay', 'done', 0, 'approved', 'members', 1, 0, 0, 0, 0
       FROM ${each(
         db,
         times(DECIDED, (n) => `decided-${n}`),
       )}`,
  )
  await db.run(sql`ANALYZE`)
  return Object.assign(service, { grace, reads, rooms: { managed, of_members, own_question, left, other } })
}

/** What a statement reads of calls, beyond those that are wanted. */
async function listScans(db: Queries, one: Sql): Promise<unknown[]> {
  if (db.dialect === 'sqlite') {
    const isNarrow = /approvals_waiting|approvals_that_wait|approvals_of_asker|sqlite_autoindex_tool_calls_1 \(id=\?\)/
    const details = await listSteps(db, one)
    return details.filter((detail) => /^(SCAN|SEARCH) tool_calls\b|^SEARCH c\b/.test(detail) && !isNarrow.test(detail))
  }
  const nodes = await listNodes(db, one)
  return nodes.filter((node) => node['Relation Name'] === 'tool_calls' && rowsReadBy(node) > MAX_READ)
}

describeService('the calls on which a participant may decide, where many others wait', startRooms, (service) => {
  it('are those of conversations that the participant manages, of members, and of own questions', async () => {
    const { grace, rooms } = service
    const { approvals } = await grace.approvals.list({ mine: true, limit: 200 })
    const { managed, of_members, own_question } = rooms
    const expected = [...managed, ...of_members, ...own_question].flatMap((id) => times(CALLS, () => id))
    expect(approvals.map(({ conversation_id }) => conversation_id).sort()).toEqual(expected.sort())
    expect(approvals.every(({ may_decide }) => may_decide)).toBe(true)
    expect(new Set(approvals.map(({ call_id }) => call_id)).size).toBe(expected.length)
  })

  it('come newest first, page by page', async () => {
    const { grace } = service
    const { db } = innerState(service)
    const all = await listDecidable(db, grace.id, { managing: MANAGING, limit: 200 })
    const seen: string[] = []
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = await listDecidable(db, grace.id, { managing: MANAGING, after, limit: 7 })
      if (page.length === 0) break
      seen.push(...page.map(({ id }) => id))
    }
    expect(seen).toEqual(all.map(({ id }) => id))
    expect(seen).toEqual([...seen].sort().reverse())
  })

  it.each([
    // Those on which Grace may decide are older than the first ones that are looked at.
    { filter: { mine: true }, statements: 2 },
    { filter: { state: 'waiting' as const }, statements: 1 },
  ])('are read once for a page that is full after the first of them: $filter', async ({ filter, statements }) => {
    const { grace, reads } = service
    reads.length = 0
    const page = await grace.approvals.list({ ...filter, limit: 5 })
    expect(page.approvals).toHaveLength(5)
    expect(page.next_after).toBe(page.approvals.at(-1)!.call_id)
    expect(reads).toHaveLength(statements)
  })

  it('are on the pages of a list, each of them once', async () => {
    const { grace, rooms } = service
    const { managed, of_members, own_question } = rooms
    const seen: string[] = []
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const page = await grace.approvals.list({ mine: true, after, limit: 25 })
      seen.push(...page.approvals.map(({ call_id }) => call_id))
      after = page.next_after
      isLast = after === undefined
    }
    expect(new Set(seen).size).toBe(CALLS * [...managed, ...of_members, ...own_question].length)
    expect(seen).toEqual([...new Set(seen)].sort().reverse())
  })

  it('are found without reading those on which others decide', async () => {
    const { grace } = service
    const { db } = innerState(service)
    const statements: Sql[] = []
    const seen = recordedQueries(db, (text) => statements.push(text))
    await listDecidable(seen, grace.id, { managing: MANAGING, limit: 51 })
    expect(statements).toHaveLength(2)
    for (const one of statements) expect(await listScans(db, one)).toEqual([])
  })
})
