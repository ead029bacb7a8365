import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { deleteExpiredDevices } from '../../../lib/accounts/passwords/store-devices.ts'
import { createAttempts } from '../../../lib/accounts/passwords/throttle.ts'
import type { Cutoff } from '../../../lib/core/clock.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { ChatError, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { promised } from '../../storage/handles.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

/** The result of a sign-in. */
interface Answer {
  status: number
  code?: string
  retry_after?: number
  device?: string
}

describeOnEachDatabase('guessing passwords', (openUrl) => {
  let services: TestService[]
  let service: TestService
  let now = Date.UTC(2026, 0, 1) * 1000
  const later = (seconds: number) => {
    now += seconds * SECOND
  }

  beforeAll(async () => {
    const url = await openUrl()
    const options = {
      config: {
        server: { trusted_proxies: ['127.0.0.1'] },
        session: { max_sessions_per_user: false as const },
        rate_limits: { auth_login_per_ip_per_min: 60 },
        security: { password: { bcrypt_cost: 4 } },
      },
      ports: { now: () => now },
    }
    services = [await startService(url, options), await startService(url, options)]
    service = services[0]!
    for (const name of ['ada', 'grace', 'zoe']) await service.signIn(name)
  })
  afterAll(() => Promise.all(services.map((each) => each.close())))

  /** A sign-in from an address, through the proxy. */
  async function login(
    name: string,
    password: string,
    from: { address?: string; device?: string | undefined; node?: number } = {},
  ): Promise<Answer> {
    const { address = '198.51.100.1', device, node = 0 } = from
    const response = await checkedFetch(`${services[node]!.base_url}/api/auth/login`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': address,
        ...(device && { cookie: `SESSION_ID-DEVICE=${device}` }),
      },
      body: JSON.stringify({ email: `${name}@example.org`, password }),
    })
    const { code } = (await response.json()) as { code?: string }
    const retry_after = response.headers.get('retry-after')
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('SESSION_ID-DEVICE='))
    return {
      status: response.status,
      ...(code && { code }),
      ...(retry_after && { retry_after: Number(retry_after) }),
      ...(cookie && { device: /=([\w-]+)/.exec(cookie)![1]! }),
    }
  }
  const changePassword = (session: Record<string, string>, current_password: string, address: string) =>
    checkedFetch(`${service.base_url}/api/auth/password`, {
      method: 'POST',
      headers: { ...session, 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ current_password, new_password: PASSWORD }),
    })
  const codes = (answers: Answer[]) => {
    const counts: Record<string, number> = {}
    for (const { code = 'none' } of answers) counts[code] = (counts[code] ?? 0) + 1
    return counts
  }
  const addressOf = (i: number) => `203.0.113.${i % 250}`

  it('gets ten guesses from one address, of two hundred at once on two nodes', async () => {
    later(3600)
    const answers = await Promise.all(times(200, (i) => login('ada', 'wrong password', { node: i % 2 })))
    const { invalid_credentials = 0, rate_limited = 0, unavailable = 0 } = codes(answers)
    expect(invalid_credentials).toBeGreaterThan(0)
    expect(invalid_credentials).toBeLessThanOrEqual(10)
    expect(invalid_credentials + rate_limited + unavailable).toBe(200)
  }, 30_000)

  it.each(['grace', 'nobody'])(
    'gets no more guesses from many addresses, whether the account exists or not: %s',
    async (name) => {
      later(3600)
      const answers: Answer[] = []
      for (let i = 0; i < 60; i++) {
        answers.push(await login(name, 'wrong password', { address: addressOf(i), node: i % 2 }))
        later(1)
      }
      // Ten in the first ten seconds, then one after half a minute: the next pause has its full length.
      expect(answers.map(({ status }) => status)).toEqual([
        ...Array(10).fill(401),
        ...Array(29).fill(429),
        401,
        ...Array(20).fill(429),
      ])
      expect(answers[10]).toEqual({ status: 429, code: 'rate_limited', retry_after: 29 })
      later(-1)
      const right = await login(name, PASSWORD, { address: addressOf(99) })
      expect(right).toEqual({ status: 429, code: 'rate_limited', retry_after: 40 })
      later(39)
      expect((await login(name, PASSWORD)).status).toBe(429)
      later(1)
      expect((await login(name, PASSWORD)).status).toBe(name === 'grace' ? 200 : 401)
    },
  )

  it('is paused longer each time, up to a quarter of an hour', async () => {
    later(3600)
    for (let i = 0; i < 9; i++) await login('zoe', 'wrong password', { address: addressOf(i) })
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) {
      expect((await login('zoe', 'wrong password', { address: addressOf(i) })).code).toBe('invalid_credentials')
      const { retry_after } = await login('zoe', PASSWORD, { address: addressOf(i) })
      pauses.push(retry_after!)
      later(retry_after!)
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900, 900])
    expect((await login('zoe', PASSWORD)).status).toBe(200)
    for (let i = 0; i < 9; i++) expect((await login('zoe', 'wrong password')).status).toBe(401)
    expect((await login('zoe', PASSWORD)).status).toBe(200)
  })

  it('is forgotten after a quarter of an hour', async () => {
    later(3600)
    for (let i = 0; i < 9; i++) await login('zoe', 'wrong password')
    later(15 * 60)
    for (let i = 0; i < 9; i++) expect((await login('zoe', 'wrong password')).status).toBe(401)
    expect((await login('zoe', PASSWORD)).status).toBe(200)
  })

  it('is limited for password changes: five a minute, and ten failures in a quarter of an hour', async () => {
    later(3600)
    const session = await signInByHand(service.base_url, 'zoe@example.org', PASSWORD)
    const guess = async (current_password: string) => {
      const response = await changePassword(session, current_password, addressOf(1))
      return `${response.status} ${response.headers.get('retry-after') ?? ''}`
    }
    for (let i = 0; i < 5; i++) expect(await guess('wrong password')).toBe('401 ')
    expect(await guess(PASSWORD)).toBe('429 12')
    later(60)
    for (let i = 0; i < 5; i++) expect(await guess('wrong password')).toBe('401 ')
    later(12)
    expect(await guess(PASSWORD)).toBe('429 18')
    later(18)
    expect(await guess(PASSWORD)).toBe('204 ')
  })

  it('counts password changes as sign-ins of their address', async () => {
    later(3600)
    const session = await signInByHand(service.base_url, 'zoe@example.org', PASSWORD)
    for (let i = 0; i < 60; i++) await login(`person-${i}`, 'wrong password', { address: addressOf(2) })
    expect((await changePassword(session, PASSWORD, addressOf(2))).headers.get('x-ratelimit-profile')).toBe('sign_in')
    expect((await changePassword(session, PASSWORD, addressOf(2))).status).toBe(429)
    expect((await changePassword(session, PASSWORD, addressOf(3))).status).toBe(204)
  })

  it('does not block the sign-ins of others while one user changes a password 120 times at once', async () => {
    later(3600)
    const session = await signInByHand(service.base_url, 'ada@example.org', PASSWORD)
    const changes = times(120, (i) => changePassword(session, PASSWORD, addressOf(i)))
    for (let i = 0; i < 12; i++) expect((await login('grace', PASSWORD)).status).toBe(200)
    expect((await Promise.all(changes)).filter(({ status }) => status === 429)).toHaveLength(115)
  })

  it('locks no user out of a known browser', async () => {
    later(3600)
    const { device } = await login('ada', PASSWORD)
    const other = await login('grace', PASSWORD)
    for (let i = 0; i < 10; i++) await login('ada', 'wrong password', { address: addressOf(i) })
    expect((await login('ada', PASSWORD)).code).toBe('rate_limited')
    // The token of another user's browser, or a forged one, has no effect.
    expect((await login('ada', PASSWORD, { device: other.device })).code).toBe('rate_limited')
    expect((await login('ada', PASSWORD, { device: 'x'.repeat(43) })).code).toBe('rate_limited')
    const again = await login('ada', PASSWORD, { device })
    expect(again).toEqual({ status: 200, device })
    // It did not free the others, and has its own ten.
    expect((await login('ada', PASSWORD)).code).toBe('rate_limited')
    for (let i = 0; i < 10; i++) expect((await login('ada', 'wrong password', { device })).status).toBe(401)
    expect((await login('ada', PASSWORD, { device })).code).toBe('rate_limited')
  })

  it('stores no usable token of a browser, and deletes it when it is long unused', async () => {
    later(3600)
    const { db } = innerState(service)
    const { device } = await login('grace', PASSWORD)
    const rows = await db.all(sql`SELECT * FROM known_devices`)
    expect(JSON.stringify(rows)).not.toContain(device)
    for (let i = 0; i < 30; i++) {
      await login('grace', PASSWORD)
      later(10)
    }
    const { id } = (await db.get<{ id: string }>(sql`SELECT id FROM users WHERE username = 'grace'`))!
    expect(await db.all(sql`SELECT token_hash FROM known_devices WHERE user_id = ${id}`)).toHaveLength(20)
    later(181 * 24 * 3600)
    expect(await db.write((tx) => deleteExpiredDevices(tx, now as Cutoff, 1000))).toBeGreaterThanOrEqual(20)
    expect(await db.all(sql`SELECT 1 AS one FROM known_devices`)).toEqual([])
  })

  it('stays limited when a clock steps back', async () => {
    later(3600)
    for (let i = 0; i < 10; i++) await login('zoe', 'wrong password')
    const { id } = (await innerState(service).db.get<{ id: string }>(sql`SELECT id FROM users WHERE username = 'zoe'`))!
    expect(await service.chat.users.describe(OPERATOR, id)).toHaveProperty('locked_until')
    later(-3600)
    // What is shown is what holds: nothing locks it for an hour.
    expect(await service.chat.users.describe(OPERATOR, id)).not.toHaveProperty('locked_until')
    expect((await login('zoe', PASSWORD)).status).toBe(200)
    later(3600)
  })

  it('is audited, without the addresses of unknown accounts, and counted in no metric', async () => {
    later(3600)
    for (const name of ['grace', 'mallory']) for (let i = 0; i < 11; i++) await login(name, 'wrong password')
    await login('ada', PASSWORD)
    const { db } = innerState(service)
    const entries = await db.all<Record<string, string | null>>(
      sql`SELECT act, actor_id, subject_id, ip, detail FROM audit_log WHERE act LIKE 'login.%' ORDER BY id DESC LIMIT 23`,
    )
    const [last, ...failed] = entries
    expect(last).toMatchObject({ act: 'login.succeeded', actor_id: expect.any(String), ip: '198.51.100.1' })
    expect(failed.filter(({ act }) => act === 'login.throttled')).toHaveLength(2)
    expect(failed.filter(({ act, subject_id }) => act === 'login.failed' && subject_id)).toHaveLength(10)
    expect(JSON.stringify(await db.all(sql`SELECT * FROM audit_log`))).not.toContain('mallory')
    expect(JSON.stringify(await db.all(sql`SELECT * FROM login_failures`))).not.toMatch(/mallory|grace/)
    const page = await (await fetch(`${service.base_url}/metrics`)).text()
    expect(page).not.toMatch(/login|sign_in|\/auth/)
  })

  it('is limited by address, IPv6 by network, even with a forged header', async () => {
    later(3600)
    const email = (i: number) => `person-${i}`
    const inNetwork = (i: number) => `2001:db8:1:2:${i.toString(16)}::1`
    const answers = await Promise.all(
      times(80, (i) => login(email(i), 'wrong password', { address: `10.9.8.${i}, ${inNetwork(i)}`, node: i % 2 })),
    )
    expect(answers.filter(({ status }) => status !== 429).length).toBe(60)
    expect((await login('ada', PASSWORD, { address: '2001:db8:1:3::1' })).status).toBe(200)
    const refused = await login('ada', PASSWORD, { address: inNetwork(7) })
    expect(refused).toEqual({ status: 429, code: 'rate_limited', retry_after: 1 })
    later(1)
    expect((await login('ada', PASSWORD, { address: inNetwork(7) })).status).toBe(200)
  })
})

/** The same function, which records each successful call. */
function noting<Args extends unknown[], T>(steps: string[], step: string, work: (...args: Args) => Promise<T>) {
  return async (...args: Args): Promise<T> => {
    const result = await work(...args)
    steps.push(step)
    return result
  }
}

describe('many sign-ins at once', () => {
  it('get a response while other calls are served', async () => {
    const service = await startService('sqlite::memory:', {
      config: { security: { password: { bcrypt_cost: 6 } }, session: { max_sessions_per_user: false } },
    })
    const ada = await service.signIn('ada')
    for (const i of times(16, (i) => i)) await service.signIn(`person-${i}`)
    let left = 16
    const logins = times(16, (i) =>
      signInByHand(service.base_url, `person-${i}@example.org`, PASSWORD).finally(() => left--),
    )
    let calls = 0
    while (left > 0) {
      expect((await ada.auth.me()).user.username).toBe('ada')
      expect((await ada.ops.health()).status).toBe('ok')
      calls++
    }
    expect((await Promise.all(logins)).every(({ cookie }) => cookie)).toBe(true)
    expect(calls).toBeGreaterThan(1)
    await service.close()
  })

  it('take one commit before the password is compared, and one after', async () => {
    const service = await startService('sqlite::memory:')
    await service.chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
    const { db } = innerState(service)
    const { passwords } = innerState(service).accounts
    const steps: string[] = []
    const { write, verify } = { ...db, ...passwords }
    vi.spyOn(db, 'write').mockImplementation(noting(steps, 'commit', write))
    vi.spyOn(passwords, 'verify').mockImplementation(noting(steps, 'compare', verify))
    await service.chat.auth.login({}, { email: 'ada@example.org', password: PASSWORD })
    expect(steps).toEqual(['commit', 'compare', 'commit'])
    vi.restoreAllMocks()
    expect(await db.all(sql`SELECT account FROM login_failures`)).toEqual([])
    await service.close()
  })

  it('do not count an attempt that was refused for lack of a place', async () => {
    const service = await startService('sqlite::memory:')
    const { db, now } = innerState(service)
    const attempts = createAttempts(db, now)
    const busy = () => Promise.reject(new ChatError('unavailable'))
    const tries = await Promise.allSettled(times(30, () => attempts.run('somebody', busy)))
    expect(tries.every((each) => each.status === 'rejected' && each.reason.code === 'unavailable')).toBe(true)
    expect(await db.get(sql`SELECT failures, blocked_until FROM login_failures`)).toEqual({
      failures: 0,
      blocked_until: 0,
    })
    await service.close()
  })

  it('let at most a thousand attempts wait for those of their accounts, and run the first ones of other accounts', async () => {
    const service = await startService('sqlite::memory:')
    const { db, now } = innerState(service)
    const attempts = createAttempts(db, now)
    const end = promised()
    const running: Record<string, number> = {}
    const refused: unknown[] = []
    const attempt = (account: string) =>
      attempts
        .run(account, async () => {
          running[account] = (running[account] ?? 0) + 1
          await end.promise
          throw new ChatError('conflict')
        })
        .catch((error: ChatError) => error.code === 'unavailable' && refused.push(error))
    // Of each account ten run, and sixty wait, which is less than the share of one.
    const all = times(18, (n) => times(70, () => attempt(`account-${n}`))).flat()
    await vi.waitFor(() => expect(refused).toHaveLength(18 * 60 - 1_000), { timeout: 30_000 })
    const last = attempt('somebody')
    await vi.waitFor(() => expect(running.somebody).toBe(1), { timeout: 30_000 })
    end.resolve()
    await Promise.all([...all, last])
    expect(refused).toHaveLength(18 * 60 - 1_000)
    expect(Object.values(running)).toContain(70)
    await service.close()
  })
})
