import { beforeAll, expect, it } from 'vitest'
import { createRememberedSessions } from '../../../lib/accounts/sessions/remembered.ts'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { limitedEndpoints } from '../../../lib/http/request/rate-limit.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { innerState, PASSWORD, type TestService } from '../../support/service.ts'
import { refreshByHand, signInByHand } from '../../support/stream.ts'

/** The texts that the hook was given. */
const reviewed: string[] = []

// A post begins with the session as the process has read it before. Its transaction confirms it.
describeOnEachDatabase('a post with a session that was used before', (openUrl) => {
  const hooks = {
    beforeMessage({ content }: { content: string }) {
      reviewed.push(content)
      return undefined
    },
  }
  const [service, node] = setUpNodes(async () => startNodes(await openUrl()))
  const [hooked] = setUpNodes(async () => startNodes(await openUrl(), { ports: { hooks } }))
  let people = 0
  beforeAll(async () => {
    await service.signIn('root')
    await hooked.signIn('root')
  })

  type Poster = Awaited<ReturnType<typeof known>>

  /** A new user, with whose session the service has just stored posts. */
  async function known(at = service) {
    const person = await at.signIn(`person-${people++}`)
    const { conversation_id } = await person.conversations.create({})
    const { root_id } = await person.messages.postRoot(conversation_id, { content: 'root' })
    const session = await signInByHand(at.base_url, person.email, PASSWORD)
    const known = { person, id: person.id, conversation_id, root_id, session }
    for (const act of ACTS) for (let n = 0; n < 2; n++) expect((await post(known, act, at)).status).toBe(201)
    return known
  }

  type Act = 'root' | 'reply' | 'root with a key' | 'root again'
  const ACTS: readonly Act[] = ['root', 'reply', 'root with a key', 'root again']
  let keys = 0

  const post = ({ conversation_id, root_id, session }: Poster, act: Act, at = service, content: unknown = 'post') => {
    const path = act === 'reply' ? `messages/${root_id}/reply` : `threads/${conversation_id}/root`
    const key = { 'root with a key': `key-${++keys}`, 'root again': 'again', root: undefined, reply: undefined }[act]
    return fetch(`${at.base_url}/api/${path}`, {
      method: 'POST',
      headers: { ...session, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
      body: JSON.stringify({ content }),
    })
  }

  const count = ({ conversation_id }: Poster) =>
    innerState(service).db.get(sql`SELECT message_count, last_seq FROM conversations WHERE id = ${conversation_id}`)

  const ENDS: [string, (at: TestService, person: Poster) => Promise<unknown>][] = [
    ['the session is refreshed', (at, { session }) => refreshByHand(at.base_url, session)],
    ['an administrator disables the user', (at, { id }) => at.chat.users.change(OPERATOR, id, { disabled: true })],
    ['an administrator ends all sessions', (at, { id }) => at.chat.users.endSessions(OPERATOR, id)],
  ]
  for (const [title, end] of ENDS) {
    it(`is refused when ${title}, here or in another process, and nothing is stored`, async () => {
      for (const at of [service, node])
        for (const act of ACTS) {
          const poster = await known()
          const before = await count(poster)
          await end(at, poster)
          expect([act, (await post(poster, act)).status]).toEqual([act, 401])
          expect(await count(poster)).toEqual(before)
        }
    })
  }

  it('follows a role that another process has changed', async () => {
    for (const act of ['root', 'reply', 'root with a key'] as const) {
      const poster = await known()
      await node.chat.users.change(OPERATOR, poster.id, { roles: ['read_only'] })
      expect([act, (await post(poster, act)).status]).toEqual([act, 403])
      await node.chat.users.change(OPERATOR, poster.id, { roles: ['member'] })
      expect([act, (await post(poster, act)).status]).toEqual([act, 201])
    }
  })

  it('is refused for its input while the session is valid, and for the session afterwards', async () => {
    const poster = await known()
    expect((await post(poster, 'root', service, 7)).status).toBe(422)
    await node.chat.users.endSessions(OPERATOR, poster.id)
    expect((await post(poster, 'root', service, 7)).status).toBe(401)
  })

  it('is counted by a limit that another process has just set', async () => {
    const poster = await known()
    const params = { requests_per_second: 0.001, burst: 2 }
    const { id: profile_id } = await node.chat.limits.createProfile(OPERATOR, { name: 'few', params })
    const assignment = { profile_id, method: 'POST', path: '/api/threads/{conversation_id}/root' } as const
    const { id } = await node.chat.limits.createAssignment(OPERATOR, limitedEndpoints, assignment)
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await post(poster, 'root')).status)
    expect(statuses).toEqual([201, 201, 429])
    await node.chat.limits.deleteAssignment(OPERATOR, id)
    expect((await post(poster, 'root')).status).toBe(201)
  })

  it('reaches a hook only while the session is valid', async () => {
    const poster = await known(hooked)
    reviewed.length = 0
    expect((await post(poster, 'root', hooked)).status).toBe(201)
    expect(reviewed).toEqual(['post'])
    await hooked.chat.users.endSessions(OPERATOR, poster.id)
    expect((await post(poster, 'root', hooked)).status).toBe(401)
    expect(reviewed).toEqual(['post'])
  })
})

it('remembers sessions up to a number, those that were read last', () => {
  const remembered = createRememberedSessions(
    async () => [],
    () => 0,
  )
  const times = { last_seen_at: 0, idle_expires_at: 1, absolute_expires_at: 1 }
  const user = { user_id: 'ada', roles: 'member', kind: 'person' as const, disabled_at: null }
  const sessionOf = (token_hash: string) => {
    return { id: token_hash, token_hash, csrf_hash: '', limits_version: null, ...times, ...user }
  }
  for (let n = 0; n < 4_096; n++) remembered.remember(sessionOf(`${n}`))
  remembered.remember(sessionOf('0'))
  remembered.remember(sessionOf('next'))
  expect(['0', '1', '2', 'next'].filter(remembered.find)).toEqual(['0', '2', 'next'])
})
