import { beforeAll, describe, expect, it } from 'vitest'
import { listVisible } from '../../../lib/accounts/users/store-people.ts'
import { ensureFormer } from '../../../lib/chat/memberships/filling.ts'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'

const UNKNOWN = '01890000-0000-7000-8000-000000000000'

describeService('users by their ids', (service) => {
  let ada: Person
  let grace: Person
  let mary: Person
  let eve: Person
  let conversation_id: string
  const names = async (by: Person, ids: string) => (await by.users.search({ ids })).users.map((user) => user.username)

  beforeAll(async () => {
    await service.signIn('root')
    ;[ada, grace, mary, eve] = (await Promise.all(
      ['ada', 'grace', 'mary', 'eve'].map((name) => service.signIn(name)),
    )) as [Person, Person, Person, Person]
    conversation_id = (await ada.conversations.create({ title: 'Machines' })).conversation.id
    for (const user of [grace, mary]) await ada.participants.add(conversation_id, { user_id: user.id })
    await mary.messages.postRoot(conversation_id, { content: 'I was here' })
    await mary.participants.remove(conversation_id, mary.id)
  })

  it('are the caller, present and former participants, in the order of the ids, each once', async () => {
    expect(await names(ada, [mary, ada, grace, mary].map(({ id }) => id).join())).toEqual(['mary', 'ada', 'grace'])
    expect(await ada.users.get(mary.id)).toEqual({ user: { id: mary.id, username: 'mary', kind: 'person' } })
    expect((await eve.users.get(eve.id)).user.username).toBe('eve')
  })

  it('are no others: strangers, unknown and malformed ones answer the same', async () => {
    expect(await names(eve, `${ada.id},nonsense,,${UNKNOWN},${eve.id}`)).toEqual(['eve'])
    expect(await names(mary, ada.id)).toEqual([])
    for (const id of [ada.id, UNKNOWN, 'nonsense']) expect(await codeOf(eve.users.get(id))).toBe('not_found')
  })

  it('are looked up by the same statements whether they exist or not, and among no events of messages', async () => {
    const { db } = innerState(service.chat)
    const listWith = async (id: string) => {
      const statements: Sql[] = []
      const all = <Row>(text: Sql) => {
        statements.push(text)
        return db.all<Row>(text)
      }
      expect(await listVisible({ ...db, all }, { user_id: eve.id, seesAll: false }, [id])).toEqual([])
      return statements
    }
    const statements = await listWith(ada.id)
    expect((await listWith(UNKNOWN)).map(({ text }) => text)).toEqual(statements.map(({ text }) => text))
    // SQLite evaluates a subquery of a condition only for a user that exists.
    const [met] = statements
    expect(met!.text).not.toMatch(/users/)
    const plan = await db.write(async (tx) => {
      if (db.dialect === 'sqlite') return tx.all(sql`EXPLAIN QUERY PLAN ${met!}`)
      // It scans a table only if it must.
      await tx.run(sql`SET LOCAL enable_seqscan = off`)
      return tx.all(sql`EXPLAIN ${met!}`)
    })
    expect(JSON.stringify(plan)).toContain('membership_changes')
  })

  it('are all for an administrator, with what is disabled, and system actors for each', async () => {
    const robot = await service.chat.system('robot')
    const { user } = await service.chat.users.create(OPERATOR, { username: 'off', email: 'off@people.example' })
    await service.chat.users.change(OPERATOR, user.id, { disabled: true })
    const { users } = await service.chat.users.search(OPERATOR, { ids: `${user.id},${eve.id}` })
    expect(users).toMatchObject([{ username: 'off', disabled: true }, { username: 'eve' }])
    expect((await eve.users.get(robot.user_id)).user).toMatchObject({ kind: 'system', display_name: 'robot' })
    expect((await service.chat.users.search(robot, { ids: eve.id })).users).toHaveLength(1)
  })

  it('are no longer those who were erased', async () => {
    const gone = await service.signIn('gone')
    await ada.participants.add(conversation_id, { user_id: gone.id })
    await gone.messages.postRoot(conversation_id, { content: 'bye' })
    await gone.participants.remove(conversation_id, gone.id)
    expect(await names(ada, gone.id)).toEqual(['gone'])
    await service.chat.users.erase(OPERATOR, gone.id, {})
    expect(await codeOf(ada.users.get(gone.id))).toBe('not_found')
  })

  it('are those that an older program has removed, by the event of it, and after fsck by what they wrote', async () => {
    const { db, tasks } = innerState(service.chat)
    // While users are being erased, it is not checked.
    await tasks.settle()
    await db.run(sql`DELETE FROM former_participants WHERE user_id = ${mary.id}`)
    expect(await names(ada, mary.id)).toEqual(['mary'])
    const { findings } = await service.chat.ops.fsck({ repair: true })
    expect(findings).toMatchObject([{ name: 'participants.former', count: 1, repaired: true }])
    expect(await db.all(sql`SELECT conversation_id FROM former_participants WHERE user_id = ${mary.id}`)).toEqual([
      { conversation_id },
    ])
  })

  it('are those who left before the upgrade', async () => {
    const { db, tasks } = innerState(service.chat)
    await db.run(sql`DELETE FROM former_participants`)
    await db.run(sql`DELETE FROM meta WHERE name = 'former_participants'`)
    await Promise.all(times(3, () => ensureFormer(db)))
    await tasks.settle()
    expect(await db.all(sql`SELECT user_id FROM former_participants`)).toEqual([{ user_id: mary.id }])
  })

  describe('and participants by their names', () => {
    const called = async (query: string) =>
      (await ada.participants.list(conversation_id, { query })).participants.map((user) => user.username)

    it('by any word of any of them, but not users who left', async () => {
      await grace.auth.changeProfile({ display_name: 'Grace Hopper' })
      expect(await called('hop')).toEqual(['grace'])
      expect(await called('@ada')).toEqual(['ada'])
      expect(await called('mary')).toEqual([])
    })

    it('with a query that is long enough, for participants only, and no place', async () => {
      const list = (by: Person, input: object) => codeOf(by.participants.list(conversation_id, input))
      expect(await list(ada, { query: 'h' })).toBe('validation_failed')
      expect(await list(eve, { query: 'hop' })).toBe('not_found')
      expect(await list(ada, { query: 'hop', after: `1_${UNKNOWN}` })).toBe('validation_failed')
    })

    it('in a conversation of more than are compared', async () => {
      const { db } = innerState(service.chat)
      await db.write(async (tx) => {
        for (const n of times(2_010, (index) => index)) {
          const id = `${UNKNOWN.slice(0, -4)}${String(n).padStart(4, '0')}`
          const key = `crowd${n}`
          await tx.run(sql`INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
               VALUES (${id}, ${key}, ${key}, ${key}, ${key}, 'member', 1, 1)`)
          await tx.run(
            sql`INSERT INTO participants (conversation_id, user_id, role, joined_at) VALUES (${conversation_id}, ${id}, 'viewer', 1)`,
          )
        }
      })
      expect(await called('hop')).toEqual(['grace'])
      expect(await called('crowd')).toHaveLength(50)
    })
  })

  it.each([{}, { query: 'ada', ids: UNKNOWN }, { ids: Array(101).fill(UNKNOWN).join() }])(
    'with %j is invalid',
    async (input) => {
      expect(await codeOf(ada.users.search(input))).toBe('validation_failed')
    },
  )
})
