import { expect, it } from 'vitest'
import { listCandidates } from '../../../lib/chat/approvals/store-deciders.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { each, type Sql, sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { listNodes, listSteps, rowsReadBy } from '../../support/plans.ts'
import { recordedQueries } from '../../support/recorded.ts'
import { innerState, type Person, startService, startThread, type TestService, times } from '../../support/service.ts'

const MEMBERS = 3_000

/** How many candidates are wanted, and what may be read for them: far less than there are participants. */
const LIMIT = 20
const MAX_READ = 200

/** How a statement reads participants beyond those that it wants. */
async function listScans(db: Queries, one: Sql): Promise<unknown[]> {
  if (db.dialect === 'sqlite') {
    const isNarrow = (detail: string) =>
      /\((conversation_id=\? AND user_id|user_id=\? AND conversation_id)=\?\)|participants_managing|participants_by_joining/.test(
        detail,
      )
    const details = await listSteps(db, one)
    return details.filter((detail) => /^(SCAN|SEARCH) (p|participants)\b/.test(detail) && !isNarrow(detail))
  }
  const nodes = await listNodes(db, one)
  return nodes.filter((node) => node['Relation Name'] === 'participants' && rowsReadBy(node) > MAX_READ)
}

interface Room extends TestService {
  ada: Person
  grace: Person
  conversation_id: string
}

/** A room of Ada and Grace, into which very many have come after them. */
async function startRoom(url: string): Promise<Room> {
  const service = await startService(url)
  const { ada, grace, conversation_id } = await startThread(service)
  const { db } = innerState(service)
  const ids = times(MEMBERS, (n) => `member-${n}`)
  const rows = sql`SELECT value AS id FROM ${each(db, ids)}`
  await db.run(
    sql`INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
     SELECT id, id || '@example.org', id || '@example.org', id, id, 'member', 0, 0 FROM (${rows}) AS added`,
  )
  await db.run(
    sql`INSERT INTO participants (conversation_id, user_id, role, joined_at)
     SELECT ${conversation_id}, id, 'member', ${4_000_000_000_000_000} FROM (${rows}) AS added`,
  )
  await db.run(sql`ANALYZE`)
  return Object.assign(service, { ada, grace, conversation_id })
}

describeService('those who are told of a call, in a room of very many', startRoom, (service) => {
  it.each([true, false])(
    'are found by one statement that reads few participants (members: %s)',
    async (with_members) => {
      const { ada, grace, conversation_id } = service
      const { db } = innerState(service)
      await grace.messages.postRoot(conversation_id, { content: 'Here.' })
      const statements: Sql[] = []
      const seen = recordedQueries(db, (text) => statements.push(text))
      const wanted = { asker_id: 'member-7', with_members, limit: LIMIT }
      const found = await listCandidates(seen, conversation_id, wanted)
      // Who asked, the owner, and the one who has written last.
      const first = ['member-7', ada.id, ...(with_members ? [grace.id] : [])]
      expect(found.slice(0, 3).map(({ user_id }) => user_id)).toEqual(first)
      expect(found).toHaveLength(with_members ? LIMIT : 2)
      expect(statements).toHaveLength(1)
      expect(await listScans(db, statements[0]!)).toEqual([])
    },
  )
})
