import { beforeAll, expect, inject, it } from 'vitest'
import { SECOND } from '../../lib/core/units.ts'
import { sql } from '../../lib/storage/sql.ts'
import { checkedFetch } from '../support/answers.ts'
import { copyPostgresDatabase, describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, type TestService, times } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

const START = Date.UTC(2026, 0, 1) * 1000

describeOnEachDatabase('rate limits', (openUrl) => {
  const [first, second] = setUpNodes(async () => {
    const url = await openUrl()
    const config = {
      rate_limits: { admin_api_enabled: true, default_rps: 10, burst: 50, auth_login_per_ip_per_min: 100 },
    }
    const ports = { now: () => now }
    return [await startService(url, { config, ports }), await startService(url, { config, ports })]
  })
  let ada: Person
  let grace: Person
  let now = START
  const later = (seconds: number) => {
    now += seconds * SECOND
  }

  beforeAll(async () => {
    ada = await first.signIn('ada')
    grace = await first.signIn('grace')
  })

  const get = async (service: TestService, path: string, headers: Record<string, string> = {}) => {
    const response = await checkedFetch(service.base_url + path, { headers })
    const left = ['limit', 'remaining', 'reset'].map((name) => Number(response.headers.get(`ratelimit-${name}`)))
    const retry_after = response.headers.get('retry-after')
    return { status: response.status, left, profile: response.headers.get('x-ratelimit-profile'), retry_after }
  }
  const session = (name: string) => signInByHand(first.base_url, `${name}@example.org`, PASSWORD)
  const params = { requests_per_second: 100 / 60, burst: 100 }

  /** A profile on a route, for the length of `work`. */
  async function withLimit(
    limit: { method: 'GET' | 'POST' | '*'; path: string; params: typeof params; name?: string },
    work: (profileId: string) => Promise<void>,
  ) {
    const { method, path, params, name = 'strict' } = limit
    const { id: profile_id } = await ada.limits.createProfile({ name, params })
    const { id } = await ada.limits.createAssignment({ profile_id, method, path })
    try {
      await work(profile_id)
    } finally {
      later(3600)
      await ada.limits.deleteAssignment(id)
      await ada.limits.deleteProfile(profile_id)
    }
  }

  it('let administrators create, change, assign and delete a profile', async () => {
    const body = { name: 'slow', params: { requests_per_second: 0.5, burst: 2 }, description: 'For bots' }
    const created = await ada.limits.createProfile(body)
    expect(created).toEqual({
      id: created.id,
      algorithm: 'gcra',
      ...body,
      created_at: created.created_at,
      updated_at: created.created_at,
    })
    const named = { ...body, name: 'SLOW' }
    expect(await codeOf(ada.limits.createProfile(named))).toBe('conflict')
    later(1)
    const changed = { requests_per_second: 3, burst: 7 }
    const updated = await ada.limits.updateProfile(created.id, { params: changed })
    expect(updated).toMatchObject({ name: 'slow', params: changed, description: 'For bots' })
    expect(updated.updated_at > updated.created_at).toBe(true)
    const plain = await ada.limits.updateProfile(created.id, { params: changed, description: '' })
    expect(plain).not.toHaveProperty('description')
    expect(await ada.limits.listProfiles()).toEqual([plain])

    const assignment = { profile_id: created.id, method: 'GET' as const, path: '/api/users' }
    const assigned = await ada.limits.createAssignment(assignment)
    expect(assigned).toMatchObject({ profile_name: 'slow', method: 'GET', path_pattern: '/api/users' })
    expect(await ada.limits.listAssignments()).toEqual([assigned])
    expect(await codeOf(ada.limits.createAssignment(assignment))).toBe('conflict')
    expect(await codeOf(ada.limits.deleteProfile(created.id))).toBe('profile_in_use')
    await ada.limits.deleteAssignment(assigned.id)
    expect(await codeOf(ada.limits.deleteAssignment(assigned.id))).toBe('not_found')
    await ada.limits.deleteProfile(created.id)
    expect(await codeOf(ada.limits.deleteProfile(created.id))).toBe('not_found')
    expect(await codeOf(ada.limits.updateProfile(created.id, { params }))).toBe('not_found')
    const acts = await innerState(first).db.all<{ act: string; ip: string }>(
      sql`SELECT act, ip FROM audit_log WHERE act LIKE 'limit_%' ORDER BY id`,
    )
    expect(acts.map(({ act }) => act)).toEqual([
      'limit_profile.created',
      'limit_profile.changed',
      'limit_profile.changed',
      'limit_assignment.created',
      'limit_assignment.deleted',
      'limit_profile.deleted',
    ])
    expect(new Set(acts.map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']))
  })

  it.each([
    { requests_per_second: 0, burst: 1 },
    { requests_per_second: -1, burst: 1 },
    { requests_per_second: 1, burst: 0 },
    { requests_per_second: 1, burst: 1.5 },
    { requests_per_second: '1', burst: 1 },
    { requests_per_second: 1e-300, burst: 1 },
    { requests_per_second: 1 },
    {},
  ])('refuse parameters that are not a rate: %o', async (wrong) => {
    later(60)
    const body = { name: 'wrong', params: wrong as typeof params }
    expect(await codeOf(ada.limits.createProfile(body))).toBe('validation_failed')
  })

  it.each([
    '/api/nothing',
    '/api/auth/me/',
    'api/*',
    '/healthz',
    '/metrics',
    '/api/threads/1/tree',
    '/api/auth/login?x=*',
    '',
  ])('refuse the path %j, which belongs to no limited route', async (path) => {
    later(60)
    const { id: profile_id } = await ada.limits.createProfile({ name: 'unused', params })
    const body = { profile_id, method: '*' as const, path }
    expect(await codeOf(ada.limits.createAssignment(body))).toBe('validation_failed')
    await ada.limits.deleteProfile(profile_id)
  })

  it('allow exactly as many of hundreds of calls at once on two nodes', async () => {
    later(3600)
    const headers = await session('grace')
    await withLimit({ method: 'GET', path: '/api/auth/me', params }, async () => {
      // A call that waits for the database for too long is refused with 503. Without a profile it was not counted, and is
      // repeated.
      const call = async (service: TestService): Promise<Awaited<ReturnType<typeof get>>> => {
        const answer = await get(service, '/api/auth/me', headers)
        return answer.status === 503 && answer.profile === null ? call(service) : answer
      }
      const answers = await Promise.all(times(300, (i) => call(i % 2 ? first : second)))
      expect(answers.filter(({ status }) => status !== 429)).toHaveLength(100)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(200)
      expect(answers[0]).toMatchObject({ profile: 'strict', left: [100, expect.any(Number), expect.any(Number)] })
      expect((await get(first, '/api/auth/me', await session('ada'))).status).toBe(200)
    })
  })

  it('return the exact time to wait', async () => {
    later(3600)
    const headers = await session('grace')
    const slow = { requests_per_second: 0.3, burst: 2 }
    await withLimit({ method: '*', path: '/api/auth/m*', params: slow }, async () => {
      expect((await get(first, '/api/auth/me', headers)).left).toEqual([2, 1, 4])
      expect((await get(second, '/api/auth/me', headers)).left).toEqual([2, 0, 7])
      for (let i = 0; i < 3; i++) {
        const { status, left, retry_after } = await get(first, '/api/auth/me', headers)
        expect({ status, remaining: left[1] }).toEqual({ status: 429, remaining: 0 })
        later(Number(retry_after) - 1)
        expect((await get(second, '/api/auth/me', headers)).status).toBe(429)
        later(1)
        expect((await get(first, '/api/auth/me', headers)).status).toBe(200)
      }
    })
  })

  it('change with the next request, on every node', async () => {
    later(3600)
    const headers = await session('grace')
    const status = async () => (await get(second, '/api/auth/me', headers)).status
    const one = { requests_per_second: 0.01, burst: 1 }
    await withLimit({ method: 'GET', path: '/api/auth/me', params: one }, async (id) => {
      expect([await status(), await status()]).toEqual([200, 429])
      await ada.limits.updateProfile(id, { params: { requests_per_second: 1000, burst: 1000 } })
      expect([await status(), await status()]).toEqual([200, 200])
    })
    expect((await get(second, '/api/auth/me', headers)).profile).toBe('default')
  })

  it('apply after a clock has stepped back', async () => {
    later(7200)
    const headers = await session('grace')
    await withLimit({ method: 'GET', path: '/api/auth/me', params: { requests_per_second: 1, burst: 2 } }, async () => {
      const status = async () => (await get(first, '/api/auth/me', headers)).status
      expect([await status(), await status(), await status()]).toEqual([200, 200, 429])
      later(-3600)
      expect([await status(), await status()]).toEqual([200, 429])
      later(2)
      expect([await status(), await status(), await status()]).toEqual([200, 200, 429])
    })
  })

  it('apply by default, too, after a clock has stepped back', async () => {
    later(7200)
    const headers = await session('grace')
    const { rate_limits } = innerState(first).config
    const ofDefault = await Promise.all(times(rate_limits.burst + 5, () => get(first, '/api/auth/me', headers)))
    expect(ofDefault.filter(({ status }) => status === 200)).toHaveLength(rate_limits.burst)
    later(-3600)
    expect((await get(first, '/api/auth/me', headers)).status).toBe(200)
  })

  it('count by default per process and user, and without a user by address', async () => {
    later(3600)
    const headers = await session('grace')
    for (const service of [first, second]) {
      const answers = await Promise.all(times(60, () => get(service, '/api/auth/me', headers)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
      expect(answers.every(({ profile }) => profile === 'default')).toBe(true)
      const anonymous = await Promise.all(times(60, () => get(service, '/v1/models')))
      expect(anonymous.filter(({ status }) => status === 200)).toHaveLength(50)
      expect(anonymous.filter(({ status }) => status === 429)).toHaveLength(10)
    }
    expect((await grace.ops.health()).status).toBe('ok')
    expect(await get(first, '/healthz')).toMatchObject({ status: 200, profile: null })
    expect(await get(first, '/openapi.json')).toMatchObject({ status: 200, profile: null })
    const page = await (await fetch(`${first.base_url}/metrics`)).text()
    expect(page).toContain('chat_rate_limit_decisions_total{profile="default",decision="refused"}')
    expect(page).not.toMatch(/chat_rate_limit_decisions_total\{profile="sign_in"/)
  })

  it('are returned with failures too', async () => {
    later(3600)
    const headers = await session('grace')
    const answer = await get(first, '/api/threads/none/tree', headers)
    expect(answer).toMatchObject({ status: 404, profile: 'default', left: [50, 49, 1] })
  })

  it('count sign-ins by address, also of signed-in users; accepting an invite then counts as an ordinary call', async () => {
    const headers = await session('grace')
    later(3600)
    const oauth = [await get(first, '/api/oauth/none', headers), await get(second, '/api/oauth/none')]
    expect(oauth).toMatchObject([
      { status: 404, profile: 'sign_in', left: [100, 99, 1] },
      { status: 404, profile: 'sign_in', left: [100, 98, 2] },
    ])
    const accepted = await checkedFetch(`${first.base_url}/api/invites/accept`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ token: 'none' }),
    })
    expect([accepted.status, accepted.headers.get('x-ratelimit-profile')]).toEqual([404, 'default'])
  })

  it('delete buckets without effect', async () => {
    await session('grace')
    const count = async () => (await innerState(first).db.get(sql`SELECT COUNT(*) AS n FROM limit_buckets`))!.n
    expect(await count()).toBeGreaterThan(0)
    later(400 * 24 * 3600)
    expect((await first.chat.ops.prune()).limit_buckets).toBeGreaterThan(0)
    expect(await count()).toBe(0)
    expect(await first.chat.ops.prune()).toMatchObject({ limit_buckets: 0, login_failures: 0 })
  })
})

it('have no administration endpoints while the feature is disabled', async () => {
  const service = await startService('sqlite::memory:', { config: { rate_limits: { default_rps: 0 } } })
  const headers = await signInByHand(service.base_url, (await service.signIn('ada')).email, PASSWORD)
  const taken = { profiles: 'GET POST', 'profiles/x': 'PUT DELETE', assignments: 'GET POST', 'assignments/x': 'DELETE' }
  for (const [path, methods] of Object.entries({ ...taken, nothing: 'GET POST PUT DELETE OPTIONS' }))
    for (const method of methods.split(' ')) {
      const response = await checkedFetch(`${service.base_url}/api/admin/limits/${path}`, { method, headers })
      expect([path, method, response.status]).toEqual([path, method, 404])
    }
  const me = await fetch(`${service.base_url}/api/auth/me`, { headers })
  expect([me.status, me.headers.get('ratelimit-limit')]).toEqual([200, null])
  await service.close()
})

it.skipIf(!inject('postgres_url'))('divide the default limit among the workers of a service', async () => {
  const { url, remove } = await copyPostgresDatabase()
  const config = { cluster: { workers: 3 }, rate_limits: { default_rps: 9, burst: 31 } }
  const now = () => START
  const workers = await Promise.all(times(3, () => startService(url, { config, ports: { now } })))
  const passed = async ({ base_url }: TestService) => {
    const answers = await Promise.all(times(20, () => fetch(`${base_url}/api/setup`)))
    return answers.filter(({ status }) => status === 200).length
  }
  expect(await Promise.all(workers.map(passed))).toEqual([10, 10, 10])
  const [first] = workers
  const refused = await fetch(`${first!.base_url}/api/setup`)
  // A third of 9 a second: ten requests take more than three seconds.
  expect([refused.status, refused.headers.get('ratelimit-reset')]).toEqual([429, '4'])
  await Promise.all(workers.map((worker) => worker.close()))

  const tiny = { cluster: { workers: 64 }, rate_limits: { default_rps: 1, burst: 1 } }
  const one = await startService(url, { config: tiny, ports: { now } })
  expect(await passed(one)).toBe(1)
  await one.close()
  await remove()
})
