import { expect, it } from 'vitest'
import { type Identity, OPERATOR } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { checkedFetch, readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, times } from '../../support/service.ts'

describeOnEachDatabase("people of the host's, named before they call", (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl(), { ports: { identity } }))
  const people = new Map<string, Identity>()
  const identity = ({ headers }: { headers: Headers }) => people.get(headers.get('x-host-user') ?? '')

  const called = (name: string) => service.chat.auth.authenticate(new Headers({ 'x-host-user': name }))

  it('gives the same user at every call, and to the login of the host', async () => {
    const { users } = service.chat
    const grace = { subject: 'grace', username: 'grace', email: 'grace@example.org', display_name: 'Grace' }
    const { user } = await users.ensure(OPERATOR, { ...grace, roles: ['admin'] })
    expect(user).toMatchObject({ username: 'grace', email_verified: true, roles: ['admin'] })
    expect(await users.ensure(OPERATOR, { subject: 'grace' })).toEqual({ user })
    people.set('grace', { subject: 'grace', username: 'grace' })
    expect((await called('grace')).user_id).toBe(user.id)
    expect(await users.actorOf('grace')).toEqual({ user_id: user.id, roles: ['admin'] })
    const entries = await innerState(service).db.all(
      sql`SELECT act, actor_id FROM audit_log WHERE subject_id = ${user.id} ORDER BY id`,
    )
    expect(entries).toEqual([{ act: 'user.created', actor_id: null }])
  })

  it('makes one user of a subject that is named many times at once, on two nodes, and by its first calls', async () => {
    people.set('many', { subject: 'many', username: 'many' })
    const found = await Promise.all(
      times(30, async (i) => {
        const { chat } = [service, node][i % 2]!
        if (i % 3 === 0) return (await chat.auth.authenticate(new Headers({ 'x-host-user': 'many' }))).user_id
        return (await chat.users.ensure(OPERATOR, { subject: 'many', username: 'many' })).user.id
      }),
    )
    expect(new Set(found).size).toBe(1)
    const named = "SELECT id FROM users WHERE username LIKE 'many%'"
    expect(await innerState(service).db.all(statement(named))).toHaveLength(1)
  })

  it('stores what the host changes, by either way, and takes over no name of another user', async () => {
    const { users } = service.chat
    const { user } = await users.ensure(OPERATOR, { subject: 'eve', username: 'eve', email: 'eve@example.org' })
    const other = await users.ensure(OPERATOR, { subject: 'adam', username: 'EVE', email: 'eve@example.org' })
    expect(other.user.username).toMatch(/^EVE-/)
    expect(other.user).not.toHaveProperty('email')
    await users.ensure(OPERATOR, { subject: 'eve', username: 'eva', email: 'eva@example.org' })
    people.set('eve', { subject: 'eve', display_name: 'Eva' })
    await called('eve')
    const changed = { id: user.id, username: 'eva', email: 'eva@example.org', display_name: 'Eva' }
    expect(await users.find(OPERATOR, user.id)).toMatchObject(changed)
  })

  it('names the field of a value that cannot be stored', async () => {
    const { users } = service.chat
    await expect(users.ensure(OPERATOR, { subject: '' })).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ path: 'subject' }],
    })
    await expect(users.ensure(OPERATOR, { subject: 'ok', email: 'none' })).rejects.toMatchObject({
      errors: [{ path: 'email', message: 'must be an e-mail address' }],
    })
    const member = await users.ensure(OPERATOR, { subject: 'member' })
    expect(await codeOf(users.ensure({ user_id: member.user.id, roles: ['member'] }, { subject: 'x' }))).toBe(
      'forbidden',
    )
    expect(await codeOf(users.actorOf('unheard of'))).toBe('not_found')
    expect(await codeOf(users.actorOf(42 as unknown as string))).toBe('validation_failed')
  })

  it('adds a participant by subject in the process; over HTTP a subject is no name', async () => {
    const { users, conversations, participants } = service.chat
    await users.ensure(OPERATOR, { subject: 'owner', username: 'owner' })
    const { user } = await users.ensure(OPERATOR, { subject: 'guest', username: 'guest' })
    const owner = await users.actorOf('owner')
    const { conversation_id } = await conversations.create(owner, { title: 'Engines' })
    const added = await participants.add(owner, conversation_id, { subject: 'guest' })
    expect(added).toMatchObject({ participant: { user_id: user.id, role: 'member' } })
    const unknown = { subject: 'unheard of' }
    const failure = { code: 'not_found', message: expect.stringContaining('users.ensure') }
    await expect(participants.add(owner, conversation_id, unknown)).rejects.toMatchObject(failure)
    await expect(conversations.direct(owner, unknown)).rejects.toMatchObject(failure)
    people.set('owner', { subject: 'owner' })
    const response = await checkedFetch(`${service.base_url}/api/conversations/${conversation_id}/participants`, {
      method: 'POST',
      headers: { 'x-host-user': 'owner', 'content-type': 'application/json' },
      body: JSON.stringify({ subject: 'guest' }),
    })
    expect((await readFailure(response)).code).toBe('validation_failed')
  })

  it('erases a person by subject; the subject is then unknown, and may become another user', async () => {
    const { users } = service.chat
    const { user } = await users.ensure(OPERATOR, { subject: 'gone', username: 'gone' })
    await users.erase(OPERATOR, { subject: 'gone' }, { messages: 'erase' })
    expect(await codeOf(users.find(OPERATOR, user.id))).toBe('not_found')
    expect(await codeOf(users.actorOf('gone'))).toBe('not_found')
    expect(await codeOf(users.erase(OPERATOR, { subject: 'gone' }))).toBe('not_found')
    expect((await users.ensure(OPERATOR, { subject: 'gone' })).user.id).not.toBe(user.id)
  })
})
