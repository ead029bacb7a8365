import { beforeAll, describe, expect, it } from 'vitest'
import { SECOND } from '../../lib/core/units.ts'
import { type ChatError, parseConfig } from '../../lib/index.ts'
import { createAuthFailures, maxAuthFailures } from '../../lib/limits/auth-failures.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { innerState, PASSWORD, startService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

const START = Date.UTC(2026, 0, 1) * 1000

describe('failed authentication', () => {
  let now = START
  const refusalOf = (work: () => void) => {
    try {
      work()
    } catch (error) {
      return (error as ChatError).retry_after_seconds
    }
    return undefined
  }

  it('is refused by network after 600 failures, for exactly the returned time', () => {
    const failures = createAuthFailures(
      () => 600,
      () => now,
    )
    const call = (ip: string | undefined) => refusalOf(() => failures.check({ ip, credential: 'made up' }))
    for (let i = 0; i < 600; i++) {
      expect(call(`2001:db8:1:2::${i.toString(16)}`)).toBeUndefined()
      failures.failed({ ip: `2001:db8:1:2::${i.toString(16)}` })
    }
    expect([call('2001:db8:1:2:ffff::1'), call('2001:db8:1:3::1'), call(undefined)]).toEqual([1, undefined, undefined])
    now += SECOND
    for (let i = 0; i < 10; i++) {
      expect(call('2001:db8:1:2::1')).toBeUndefined()
      failures.failed({ ip: '2001:db8:1:2::1' })
    }
    expect(call('2001:db8:1:2::1')).toBe(1)
  })

  it('is refused no longer because a clock has stepped back', () => {
    const failures = createAuthFailures(
      () => 2,
      () => now,
    )
    const ip = '192.0.2.9'
    for (let i = 0; i < 2; i++) failures.failed({ ip })
    expect(refusalOf(() => failures.check({ ip }))).toBe(30)
    now -= 3_600 * SECOND
    expect(refusalOf(() => failures.check({ ip }))).toBeUndefined()
  })

  it('does not affect credentials that were valid the last time, as many as are remembered', () => {
    const failures = createAuthFailures(
      () => 1,
      () => now,
    )
    const ip = '192.0.2.1'
    const call = (credential: string) => refusalOf(() => failures.check({ ip, credential }))
    for (let i = 0; i <= 10_000; i++) failures.remember({ ip, credential: `session ${i}` })
    failures.failed({ ip })
    expect([call('session 0'), call('session 1'), call('session 10000'), call('another')]).toEqual([
      60,
      undefined,
      undefined,
      60,
    ])
    failures.forget({ ip, credential: 'session 1' })
    expect(call('session 1')).toBe(60)
  })
})

it('counts a part of the failures in each worker of a service', () => {
  const of = (workers: number, auth_failures_per_ip_per_min: number) =>
    maxAuthFailures(parseConfig({ cluster: { workers }, rate_limits: { auth_failures_per_ip_per_min } }))
  expect([of(1, 600), of(4, 600), of(64, 1)]).toEqual([600, 150, 1])
})

describeOnEachDatabase('failed authentication over HTTP', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: {
        server: { trusted_proxies: ['127.0.0.1'] },
        rate_limits: { auth_login_per_ip_per_min: 1_000_000, auth_failures_per_ip_per_min: 5 },
        security: { password: { bcrypt_cost: 4 } },
      },
      ports: { now: () => START },
    }),
  )
  beforeAll(async () => {
    await service.signIn('ada')
  })

  const get = (path: string, address: string, headers: Record<string, string> = {}) =>
    checkedFetch(service.base_url + path, { headers: { ...headers, 'x-forwarded-for': address } })

  it('is counted for sessions, keys, missing credentials and sign-ins alike, and then nothing is looked up', async () => {
    const address = '203.0.113.1'
    expect((await get('/api/auth/me', address)).status).toBe(401)
    expect((await get('/api/conversations', address, { cookie: 'SESSION_ID=madeup' })).status).toBe(401)
    expect((await get('/api/stream', address, { authorization: 'Bearer cs_madeup' })).status).toBe(401)
    for (let i = 0; i < 2; i++) {
      const response = await checkedFetch(`${service.base_url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ email: 'ada@example.org', password: 'wrong password' }),
      })
      expect(response.status).toBe(401)
    }
    const { db } = innerState(service)
    const looked: string[] = []
    const { get: find } = db
    db.get = (sql) => {
      looked.push(sql.text)
      return find(sql)
    }
    const refused = await get('/api/auth/me', address, { authorization: 'Bearer cs_madeup' })
    db.get = find
    expect([refused.status, refused.headers.get('retry-after'), looked]).toEqual([429, '12', []])
    expect((await get('/api/auth/me', '203.0.113.2')).status).toBe(401)
    expect((await get('/api/setup', address)).status).toBe(200)
  })

  it('does not lock out a session that was valid before, or a sign-in; an ended session is forgotten', async () => {
    const address = '203.0.113.3'
    const session = await signInByHand(service.base_url, 'ada@example.org', PASSWORD)
    const unused = await signInByHand(service.base_url, 'ada@example.org', PASSWORD)
    expect((await get('/api/auth/me', address, session)).status).toBe(200)
    for (let i = 0; i < 5; i++) expect((await get('/api/auth/me', address)).status).toBe(401)
    expect((await get('/api/auth/me', address)).status).toBe(429)
    expect((await get('/api/auth/me', address, session)).status).toBe(200)
    expect((await get('/api/auth/me', address, unused)).status).toBe(429)
    expect((await get('/api/auth/me', '203.0.113.4', unused)).status).toBe(200)

    await checkedFetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers: session })
    expect((await get('/api/auth/me', address, session)).status).toBe(401)
    expect((await get('/api/auth/me', address, session)).status).toBe(429)
  })
})
