import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../lib/core/units.ts'
import { OPERATOR } from '../../lib/index.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

const START = Date.UTC(2026, 0, 1) * 1000

describeOnEachDatabase('the status of limits', (openUrl) => {
  const service = setUpService(async () => {
    const config = { rate_limits: { admin_api_enabled: true, auth_login_per_ip_per_min: 12 } }
    return startService(await openUrl(), { config, ports: { now: () => now } })
  })
  let ada: Person
  let grace: Person
  let now = START

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    const params = { requests_per_second: 0.1, burst: 2 }
    const { id: profile_id } = await ada.limits.createProfile({ name: 'slow', params })
    await ada.limits.createAssignment({ profile_id, method: 'GET', path: '/api/auth/sessions' })
  })

  const login = (email: string) =>
    fetch(`${service.base_url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'not the password' }),
    }).then(({ status }) => status)

  it('names a user who would be refused, and until when', async () => {
    expect((await service.chat.limits.status(OPERATOR)).throttled).toEqual([])
    await grace.auth.listSessions()
    expect((await service.chat.limits.status(OPERATOR)).throttled).toEqual([])
    await grace.auth.listSessions()
    const expected = {
      limit: 'slow',
      method: 'GET',
      path: '/api/auth/sessions',
      user_id: grace.id,
      username: 'grace',
      until: '2026-01-01T00:00:10.000000Z',
    }
    const { throttled, is_complete } = await service.chat.limits.status(OPERATOR)
    expect([throttled, is_complete]).toEqual([[expected], true])
    // Not by the client, which waits and repeats a read that is refused.
    const headers = await signInByHand(service.base_url, 'grace@example.org', PASSWORD)
    const refused = await fetch(`${service.base_url}/api/auth/sessions`, { headers })
    expect(refused.status).toBe(429)
    const [hers, his] = await Promise.all(
      [grace, ada].map(({ id }) => service.chat.limits.status(OPERATOR, { user_id: id })),
    )
    expect([hers?.throttled, his?.throttled]).toEqual([[expected], []])
  })

  it('forgets the calls of a user, for administrators only', async () => {
    expect((await ada.limits.status({ user_id: grace.id })).throttled).toHaveLength(1)
    expect(await codeOf(grace.limits.status())).toBe('forbidden')
    expect(await codeOf(grace.limits.reset({ user_id: grace.id }))).toBe('forbidden')
    expect(await codeOf(ada.limits.reset({} as { address: string }))).toBe('validation_failed')
    expect(await ada.limits.reset({ user_id: grace.id })).toEqual({ reset: 1 })
    await grace.auth.listSessions()
    await grace.auth.listSessions()
    now += 11 * SECOND
    expect((await service.chat.limits.status(OPERATOR)).throttled).toEqual([])
    expect(await service.chat.limits.reset(OPERATOR, { user_id: ada.id })).toEqual({ reset: 0 })
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'limits.reset' })
    expect(entries.map(({ subject_id, detail }) => [subject_id, detail])).toEqual([
      [ada.id, { count: 0 }],
      [grace.id, { count: 1 }],
    ])
  })

  it('counts sign-ins and locked accounts, and names and frees a throttled address', async () => {
    for (let i = 0; i < 14; i++) await login('grace@example.org')
    const { throttled, locked_accounts, sign_ins } = await service.chat.limits.status(OPERATOR)
    expect(throttled).toEqual([{ limit: 'sign_in', address: '127.0.0.1', until: expect.any(String) }])
    expect(locked_accounts).toBe(1)
    expect(sign_ins.since).toBe('2025-12-31T00:00:11.000000Z')
    expect(sign_ins.failed).toBeGreaterThanOrEqual(9)
    expect(await login('nobody@example.org')).toBe(429)
    expect(await service.chat.limits.reset(OPERATOR, { address: '127.0.0.1' })).toEqual({ reset: 1 })
    expect(await login('nobody@example.org')).toBe(401)
  })

  it('is for administrators, of known users, by one of two names', async () => {
    const reader = await service.chat.users.actor(grace.id)
    expect(await codeOf(service.chat.limits.status(reader))).toBe('forbidden')
    expect(await codeOf(service.chat.limits.reset(reader, { address: '127.0.0.1' }))).toBe('forbidden')
    const unknown = '0199f0a0-0000-7000-8000-000000000000'
    expect(await codeOf(service.chat.limits.status(OPERATOR, { user_id: unknown }))).toBe('not_found')
    expect(await codeOf(service.chat.limits.reset(OPERATOR, { user_id: unknown, address: '::1' }))).toBe(
      'validation_failed',
    )
    expect(await codeOf(service.chat.limits.reset(OPERATOR, {} as { address: string }))).toBe('validation_failed')
    expect(await codeOf(service.chat.limits.reset(OPERATOR, { address: 'localhost' }))).toBe('validation_failed')
    expect(await codeOf(service.chat.limits.reset(OPERATOR, { address: '192.0.2.256' }))).toBe('validation_failed')
    expect(await service.chat.limits.reset(OPERATOR, { address: '2001:db8:1:2::/64' })).toEqual({ reset: 0 })
  })
})
