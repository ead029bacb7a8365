import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { type JoinBefore, type MessageBefore, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'
import { callWith } from './calls.ts'

describeOnEachDatabase('what a server key does for a user', (openUrl) => {
  const requests: object[] = []
  const audited: object[] = []
  const note = (message: string, fields: object = {}) => {
    if (message === 'request') requests.push(fields)
    if (message === 'audit') audited.push(fields)
  }
  const log = { debug: note, info: note, warn: note, error: note }
  const joins: JoinBefore[] = []
  const messages: MessageBefore[] = []
  const hooks = {
    beforeJoin: (join: JoinBefore) => void joins.push(join),
    beforeMessage: (message: MessageBefore) => void messages.push(message),
  }
  const service = setUpService(async () =>
    startService(await openUrl(), { config: { log: { requests: 'all' } }, ports: { log, hooks } }),
  )
  let founder: Person
  let ada: Person
  let server_key: string
  let key: string
  beforeAll(async () => {
    founder = await service.signIn('founder')
    ada = await service.signIn('ada')
    const made = await service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['act_as', 'users'] })
    server_key = made.id
    key = made.key
  })
  const call = async (line: string, body?: object) => {
    const answer = await callWith(service, key, line, { act_as: `user:${ada.id}`, ...(body && { body }) })
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body
  }
  const open = async () =>
    (await founder.conversations.create({ title: 'Open', visibility: 'listed', policy: { join: 'anyone' } }))
      .conversation_id

  it('is a line of the request log with the user and the key, also of a stream', async () => {
    requests.length = 0
    await call('GET /api/auth/me')
    const stream = await openStream(service.base_url, undefined, {
      authorization: `Bearer ${key}`,
      act_as: `user:${ada.id}`,
    })
    await stream.until('stream.ready')
    await stream.close()
    await callWith(service, key, 'GET /api/admin/users/by-subject/unknown')
    await ada.auth.me()
    await expect.poll(() => requests.length).toBe(4)
    const lineOf = (route: string) => requests.filter((line) => (line as { route?: string }).route === route)
    expect(lineOf('/api/auth/me')).toEqual([
      expect.objectContaining({ user_id: ada.id, server_key }),
      expect.not.objectContaining({ server_key: expect.anything() }),
    ])
    expect(lineOf('/api/stream')).toMatchObject([{ user_id: ada.id, server_key }])
    const [byKey] = lineOf('/api/admin/users/by-subject/{subject}')
    expect(byKey).toMatchObject({ status: 404, server_key })
    expect(byKey).not.toHaveProperty('user_id')
    expect(JSON.stringify(requests)).not.toContain(key)
  })

  it('has the key in each entry of the audit log', async () => {
    audited.length = 0
    const joined = await open()
    await call(`POST /api/conversations/${joined}/join`)
    await call(`POST /api/conversations/${joined}/leave`)
    const invited = await open()
    const { token } = await founder.invites.create(invited, {})
    await call('POST /api/invites/accept', { token })
    await call('PATCH /api/auth/me', { display_name: 'Ada L' })
    const { conversation_id } = await call('POST /api/conversations', { title: 'Orders' })
    await call(`PATCH /api/conversations/${conversation_id}`, { title: 'All orders', layout: 'topics' })
    await call(`PATCH /api/conversations/${conversation_id}`, { policy: { reply: 'admins' } })
    const invite = await call(`POST /api/conversations/${conversation_id}/invites`, {})
    await call(`POST /api/invites/${invite.token}/revoke`)
    await call(`POST /api/conversations/${conversation_id}/participants`, { user_id: founder.id, role: 'member' })
    const place = `/api/conversations/${conversation_id}/participants/${founder.id}`
    await call(`PATCH ${place}`, { role: 'admin' })
    const { message_id } = await founder.messages.postRoot(conversation_id, { content: 'gone soon' })
    await founder.reactions.add(message_id, '👍')
    await call(`DELETE /api/messages/${message_id}/reactions/${encodeURIComponent('👍')}?all=true`)
    await call(`POST /api/messages/${message_id}/delete`)
    await call(`DELETE ${place}`)
    await call(`DELETE /api/conversations/${conversation_id}`)
    const own = audited.filter((entry) => (entry as { actor_id?: string }).actor_id === ada.id)
    expect(own.filter((entry) => !('server_key' in entry))).toEqual([])
    expect(new Set(own.map((entry) => (entry as { act: string }).act))).toEqual(
      new Set([
        'participant.added',
        'participant.removed',
        'invite.accepted',
        'profile.changed',
        'conversation.renamed',
        'conversation.layout_changed',
        'conversation.policy_changed',
        'invite.created',
        'invite.revoked',
        'participant.role_changed',
        'reactions.cleared',
        'message.deleted',
        'conversation.deleted',
      ]),
    )
    expect(own).toEqual(own.map((entry) => expect.objectContaining({ ...entry, server_key })))
    const { entries } = await service.chat.audit.list(OPERATOR, { user_id: ada.id, limit: 200 })
    const stored = entries.filter(({ actor_id, act }) => actor_id === ada.id && act !== 'login.succeeded')
    expect(stored.length).toBeGreaterThanOrEqual(own.length)
    for (const { detail } of stored) expect(detail).toMatchObject({ server_key })
  })

  it('reaches the hooks of the host with the user and the key', async () => {
    const conversation_id = await open()
    joins.length = messages.length = 0
    await call(`POST /api/conversations/${conversation_id}/join`)
    const { message_id } = await call(`POST /api/threads/${conversation_id}/root`, { content: 'by the shop' })
    await call(`POST /api/messages/${message_id}/edit`, { content: 'by the shop, again' })
    const actor = expect.objectContaining({ user_id: ada.id, server_key })
    expect(joins).toEqual([expect.objectContaining({ actor, user_id: ada.id })])
    expect(messages).toEqual([expect.objectContaining({ actor }), expect.objectContaining({ actor })])
  })

  it('takes from the limits of that user', async () => {
    const params = { requests_per_second: 0.01, burst: 50 }
    const { id: profile_id } = await founder.limits.createProfile({ name: 'slow', params })
    const { id } = await founder.limits.createAssignment({ profile_id, method: 'GET', path: '/api/auth/me' })
    onTestFinished(async () => void (await founder.limits.deleteAssignment(id)))
    const left = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.base_url}/api/auth/me`, { headers })
      return Number(response.headers.get('ratelimit-remaining'))
    }
    const { key: own } = await ada.keys.create({ name: 'own' })
    const first = await left({ authorization: `Bearer ${key}`, 'chat-act-as': `user:${ada.id}` })
    expect(await left({ authorization: `Bearer ${own}` })).toBe(first - 1)
    expect(await left({ authorization: `Bearer ${key}`, 'chat-act-as': `user:${ada.id}` })).toBe(first - 2)
  })
})
