import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { type Actor, type Chat, ChatError, type Storage } from '../../../lib/index.ts'
import type { Primitive, Queries } from '../../../lib/storage/database.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, times } from '../../support/service.ts'

const OPERATOR: Actor = { user_id: '', roles: ['admin'] }
const PEOPLE = 5

/** A call of one of the people, the first of whom owns all rooms; `other` and `room` are numbers of any size. */
interface Step {
  do: 'create' | 'createPair' | 'add' | 'accept' | 'leave' | 'remove' | 'direct' | 'erase' | 'disable' | 'delete'
  by: number
  other: number
  room: number
}

const often: Step['do'][] = ['add', 'accept', 'leave', 'remove']
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(...often, ...often, ...often, 'create', 'createPair', 'direct', 'erase', 'disable', 'delete'),
  by: fc.nat(PEOPLE - 1),
  other: fc.nat(PEOPLE - 1),
  room: fc.nat(2),
})

/** The people and the rooms of one history. */
interface World {
  people: Actor[]
  rooms: string[]
}

describeOnEachDatabase('the number of participants', (openUrl, dialect) => {
  it('equals a naive count, whatever users do at the same time', { timeout: 180_000 }, async () => {
    const service = await startService(await openUrl(), { config: { direct: { who: 'everyone' } } })
    onTestFinished(service.close)
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    let turn = 0
    /** Each node in turn. */
    const next = () => service.nodes[turn++ % service.nodes.length]!
    const groups = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12, size: 'max' })
    const history = fc.asyncProperty(groups, async (steps) => {
      const world: World = { people: [ada], rooms: [] }
      while (world.people.length < PEOPLE) world.people.push(await createPerson(service.chat))
      await apply(service.chat, world, { do: 'create', by: 0, other: 0, room: 0 })
      for (const group of steps) {
        await Promise.all(group.map((each) => attempt(() => apply(next(), world, each))))
        await assertCounted(service.chat, ada)
      }
    })
    await fc.assert(history, { numRuns: dialect === 'sqlite' ? 60 : 25 })
    await service.idle()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is the same for all who are added, and less for all who leave, at the same time', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    const { conversation_id } = await service.chat.conversations.create(ada)
    const people = await Promise.all(times(12, () => createPerson(service.chat)))
    const node = (n: number) => service.nodes[n % service.nodes.length]!.participants
    const add = (user_id: string, n: number) => attempt(() => node(n).add(ada, conversation_id, { user_id }))
    await Promise.all([...people, ...people].map(({ user_id }, n) => add(user_id, n)))
    expect((await service.chat.conversations.get(ada, conversation_id)).participant_count).toBe(13)

    const leaving = people.slice(0, 6)
    await Promise.all([
      ...leaving.map((actor, n) => attempt(() => node(n).remove(actor, conversation_id, actor.user_id))),
      ...leaving.map((actor, n) => attempt(() => node(n).remove(ada, conversation_id, actor.user_id))),
      ...leaving.map(({ user_id }, n) => add(user_id, n)),
    ])
    await assertCounted(service.chat, ada)
  })

  it('is read without the participants in a list of conversations', async () => {
    const queries: [sql: string, params: readonly Primitive[]][] = []
    const service = await startService(await openUrl(), { wrap: (storage) => recording(storage, queries) })
    onTestFinished(service.close)
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    await service.chat.conversations.create(ada)
    queries.length = 0
    await service.chat.conversations.list(ada)
    const plans: string[] = []
    await innerState(service).db.write(async (tx) => {
      // It scans a table only if it must.
      if (dialect === 'postgresql') await tx.run(sql`SET LOCAL enable_seqscan = off`)
      const explain = dialect === 'postgresql' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN'
      for (const [sql, params] of queries.filter(([sql]) => sql.includes('participants')))
        plans.push(JSON.stringify(await tx.all(statement(`${explain} ${sql}`, params))))
    })
    expect(plans).toHaveLength(1)
    expect(plans[0]).toMatch(/user_id ?=/)
    expect(plans[0]).not.toMatch(/conversation_id ?=|Seq Scan on participants/)
  })
})

/** Ignores what the service refuses. */
async function attempt(call: () => Promise<unknown>): Promise<void> {
  await call().catch((error) => {
    if (!(error instanceof ChatError && error.status < 500)) throw error
  })
}

async function createPerson(chat: Chat): Promise<Actor> {
  const username = `p${innerState(chat).id()}`
  const { user } = await chat.users.create(OPERATOR, { username, email: `${username}@example.org` })
  return chat.users.actor(user.id)
}

async function apply(chat: Chat, { people, rooms }: World, each: Step): Promise<unknown> {
  const [owner, by, other] = [people[0]!, people[each.by]!, people[each.other]!]
  const room = rooms[each.room % rooms.length]!
  switch (each.do) {
    case 'create':
    case 'createPair':
      return rooms.push((await chat.conversations.create(owner, { is_group: each.do === 'create' })).conversation_id)
    case 'add':
      return chat.participants.add(owner, room, { user_id: other.user_id })
    case 'accept': {
      const { token = '' } = await chat.invites.create(owner, room, {})
      return chat.invites.accept(by, {}, { token })
    }
    case 'leave':
      return chat.participants.remove(by, room, by.user_id)
    case 'remove':
      return chat.participants.remove(owner, room, other.user_id)
    case 'direct':
      return chat.conversations.direct(by, { user_id: other.user_id })
    case 'delete':
      if (rooms.length > 1) rooms.splice(rooms.indexOf(room), 1)
      return chat.conversations.remove(owner, room)
    case 'disable':
      return chat.users.change(OPERATOR, other.user_id, { disabled: each.room > 0 })
    case 'erase':
      if (each.other === 0) return
      people[each.other] = await createPerson(chat)
      return chat.users.erase(OPERATOR, other.user_id, { messages: 'keep' })
  }
}

/** Compares the stored counts with the rows, and what a participant reads with both. */
async function assertCounted(chat: Chat, reader: Actor): Promise<void> {
  // A snapshot of its own: on SQLite the reads of one turn share one, which may be older than a commit of the other node.
  const rows = await innerState(chat).db.snapshot((db) =>
    db.all<{ id: string; participant_count: number; total: number }>(
      sql`SELECT c.id, c.participant_count, (SELECT count(*) FROM participants p WHERE p.conversation_id = c.id) AS total
         FROM conversations c WHERE c.deleted_at IS NULL`,
    ),
  )
  expect(rows.filter((row) => row.participant_count !== row.total)).toEqual([])
  const counts = new Map(rows.map(({ id, total }) => [id, total]))
  const { conversations } = await chat.conversations.list(reader)
  for (const { id, participant_count } of conversations) expect(participant_count).toBe(counts.get(id))
  for (const { id } of conversations.slice(0, 2))
    expect((await chat.conversations.get(reader, id)).participant_count).toBe(counts.get(id))
}

/** A storage that records the queries of its snapshots. */
function recording(storage: Storage, queries: [sql: string, params: readonly Primitive[]][]): Storage {
  const recorded = (db: Queries): Queries => ({
    ...db,
    all: (sql) => {
      queries.push([sql.text, sql.params])
      return db.all(sql)
    },
    get: (sql) => {
      queries.push([sql.text, sql.params])
      return db.get(sql)
    },
  })
  const { db } = storage
  return {
    ...storage,
    db: { ...db, snapshot: (work, options) => db.snapshot((reads) => work(recorded(reads)), options) },
  }
}
