import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { PASSWORD, type Person, type TestService } from '../../support/service.ts'
import { refreshByHand, type SignedHeaders, signInByHand } from '../../support/stream.ts'

// What one process has read of a session must not outlive what another process, or itself, commits.
describeOnEachDatabase('access that ends', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl()))
  let admin: Person
  let people = 0
  beforeAll(async () => {
    admin = await service.signIn('root')
  })

  const me = (headers: Record<string, string>) => fetch(`${service.base_url}/api/auth/me`, { headers })

  /** A new user, whose session the service has just read several times. */
  async function known() {
    const { id, email } = await service.signIn(`person-${people++}`)
    const session = await signInByHand(service.base_url, email, PASSWORD)
    for (let n = 0; n < 3; n++) expect((await me(session)).status).toBe(200)
    return { id, email, session }
  }
  type Known = Awaited<ReturnType<typeof known>>

  const send = (at: TestService, method: string, path: string, { session }: Known, body?: object) =>
    fetch(at.base_url + path, {
      method,
      headers: { ...session, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })

  const ENDS: [string, (at: TestService, person: Known) => Promise<unknown>][] = [
    ['the user signs out', (at, person) => send(at, 'POST', '/api/auth/logout', person)],
    ['the session is refreshed', (at, { session }) => refreshByHand(at.base_url, session)],
    ['an administrator disables the user', (at, { id }) => at.chat.users.change(OPERATOR, id, { disabled: true })],
    [
      'an administrator sets another password',
      (at, { id }) => at.chat.users.change(OPERATOR, id, { password: 'another one here' }),
    ],
    [
      'the user changes the password in another session',
      async (at, person) => {
        const session = await signInByHand(at.base_url, person.email, PASSWORD)
        const passwords = { current_password: PASSWORD, new_password: 'staple battery horse' }
        return send(at, 'POST', '/api/auth/password', { ...person, session }, passwords)
      },
    ],
    ['an administrator ends all sessions', (at, { id }) => at.chat.users.endSessions(OPERATOR, id)],
    ['the user is erased', (at, { id }) => at.chat.users.erase(OPERATOR, id)],
  ]
  for (const [title, end] of ENDS) {
    it(`is refused with the next call when ${title}, here or in another process`, async () => {
      for (const at of [service, node]) {
        const person = await known()
        await end(at, person)
        expect((await me(person.session)).status).toBe(401)
      }
    })
  }

  it('is refused to an API key that another process has revoked', async () => {
    const { session, id } = await known()
    const created = await send(service, 'POST', '/api/auth/keys', { session } as Known, { name: 'mine' })
    const { id: keyId, key } = (await created.json()) as { id: string; key: string }
    const asKey = { authorization: `Bearer ${key}` }
    for (let n = 0; n < 3; n++) expect((await me(asKey)).status).toBe(200)
    await node.chat.keys.revoke({ user_id: id, roles: ['member'] }, keyId)
    expect((await me(asKey)).status).toBe(401)
  })

  it('follows a role that another process has changed', async () => {
    const { id, session } = await known()
    const users = () => fetch(`${service.base_url}/api/admin/users`, { headers: session })
    expect((await users()).status).toBe(403)
    await node.chat.users.change(OPERATOR, id, { roles: ['admin'] })
    expect((await users()).status).toBe(200)
    await node.chat.users.change({ user_id: admin.id, roles: ['admin'] }, id, { roles: ['member'] })
    expect((await users()).status).toBe(403)
  })

  it('shows a name that another process has changed', async () => {
    const person = await known()
    await send(node, 'PATCH', '/api/auth/me', person, { display_name: 'Someone Else' })
    expect(await (await me(person.session)).json()).toMatchObject({ user: { display_name: 'Someone Else' } })
  })

  it('returns the latest session to calls while it is refreshed and used at the same time', async () => {
    let { session } = await known()
    for (let round = 0; round < 5; round++) {
      const before = session
      const [next] = await Promise.all([refreshByHand(node.base_url, before), me(before), me(before)])
      session = next as SignedHeaders
      expect([(await me(before)).status, (await me(session)).status]).toEqual([401, 200])
    }
  })
})
