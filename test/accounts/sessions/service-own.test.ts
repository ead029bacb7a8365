import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, startService } from '../../support/service.ts'
import { openStream, refreshByHand, signInByHand } from '../../support/stream.ts'

const HOUR = 3600

describeOnEachDatabase('the sessions of a user', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    const options = {
      config: {
        session: { idle_seconds: HOUR, absolute_seconds: 10 * HOUR },
        server: { trusted_proxies: ['127.0.0.1'] },
      },
      ports: { now: () => now },
    }
    return [await startService(url, options), await startService(url, options)]
  })
  let now = Date.UTC(2026, 0, 1) * 1000
  const later = (seconds: number) => {
    now += seconds * SECOND
  }
  beforeAll(async () => {
    await service.signIn('ada')
    await service.signIn('eve')
  })

  const ada = () => signInByHand(service.base_url, 'ada@example.org', PASSWORD)
  const send = (method: string, path: string, headers: Record<string, string>) =>
    checkedFetch(service.base_url + path, { method, headers })
  const list = async (headers: Record<string, string>) =>
    ((await (await send('GET', '/api/auth/sessions', headers)).json()) as { sessions: Listed[] }).sessions
  interface Listed {
    id: string
    user_agent?: string
    ip?: string
    last_seen_at: string
    current: boolean
  }
  const statusOf = async (headers: Record<string, string>) => (await send('GET', '/api/auth/me', headers)).status

  it('are listed with address and last use, the latest first, and without those of others', async () => {
    const first = await ada()
    later(100)
    const second = await ada()
    later(59)
    expect(await statusOf({ ...first, 'user-agent': 'changes nothing' })).toBe(200)
    const sessions = await list(second)
    expect(sessions[0]).toEqual({
      id: expect.any(String),
      issued_at: '2026-01-01T00:00:00.000000Z',
      last_seen_at: '2026-01-01T00:02:39.000000Z',
      expires_at: '2026-01-01T01:02:39.000000Z',
      absolute_expires_at: '2026-01-01T10:00:00.000000Z',
      user_agent: expect.stringMatching(/./),
      ip: '127.0.0.1',
      current: false,
    })
    expect(sessions.map((session) => session.current)).toEqual([false, true, false])
    const { user_id: own } = await service.chat.auth.authenticate(new Headers({ cookie: first.cookie }))
    const { db } = innerState(service)
    const rows = await db.all<{ id: string }>(sql`SELECT id FROM sessions WHERE user_id = ${own}`)
    expect(sessions.map((session) => session.id).sort()).toEqual(rows.map((row) => row.id).sort())
    later(HOUR - 50)
    // Expired sessions are kept, but not listed.
    expect((await list(await ada())).map((session) => session.current)).toEqual([true, false])
  })

  it('show the address of the last use, to the minute; calls in process do not change it', async () => {
    const session = await ada()
    const from = (address: string, agent: string) => ({
      ...session,
      'x-forwarded-for': address,
      'user-agent': agent.padEnd(500, '.'),
    })
    const shown = async () => {
      const { db } = innerState(service)
      const { session_id } = await service.chat.auth.authenticate(new Headers({ cookie: session.cookie }))
      const row = await db.get<{ ip: string; user_agent: string }>(
        sql`SELECT ip, user_agent FROM sessions WHERE id = ${session_id!}`,
      )
      return `${row!.ip} ${row!.user_agent.replace(/\.+$/, '')} ${row!.user_agent.length}`
    }
    later(59)
    expect(await statusOf(from('203.0.113.1', 'too early'))).toBe(200)
    expect(await shown()).toMatch(/^127\.0\.0\.1 /)
    later(1)
    expect(await statusOf(from('203.0.113.1', 'phone'))).toBe(200)
    expect(await shown()).toBe('203.0.113.1 phone 400')
    await refreshByHand(node.base_url, from('2001:db8::7', 'laptop')).then((fresh) => Object.assign(session, fresh))
    expect(await shown()).toBe('2001:db8::7 laptop 400')
    later(60)
    expect(await shown()).toBe('2001:db8::7 laptop 400')
  })

  it('are ended one by one, with their streams, on every node', async () => {
    const [here, there] = [await ada(), await ada()]
    const { conversation_id } = await service.chat.conversations.create(
      await service.chat.auth.authenticate(new Headers({ cookie: here.cookie })),
    )
    const streams = await Promise.all([
      openStream(service.base_url, conversation_id, there),
      openStream(node.base_url, conversation_id, there),
    ])
    for (const stream of streams) await stream.until('stream.ready')
    const { user_id } = await service.chat.auth.authenticate(new Headers({ cookie: here.cookie }))
    const id = (await list(there)).find((session) => session.current)!.id
    expect((await send('DELETE', `/api/auth/sessions/${id}`, here)).status).toBe(204)
    for (const stream of streams)
      expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect([await statusOf(there), await statusOf(here)]).toEqual([401, 200])
    expect((await send('DELETE', `/api/auth/sessions/${id}`, here)).status).toBe(404)
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT subject_id, ip, detail FROM audit_log WHERE act = 'session.revoked'`)).toEqual([
      { subject_id: user_id, ip: '127.0.0.1', detail: JSON.stringify({ sessions: 1, session_id: id }) },
    ])
  })

  it('include the current one, which can be ended and keeps its cookies', async () => {
    const headers = await ada()
    const { id } = (await list(headers)).find((session) => session.current)!
    const response = await send('DELETE', `/api/auth/sessions/${id}`, headers)
    expect([response.status, response.headers.getSetCookie()]).toEqual([204, []])
    expect(await statusOf(headers)).toBe(401)
  })

  it('are not ended by another user, nor after they have expired', async () => {
    const headers = await ada()
    const { id } = (await list(headers)).find((session) => session.current)!
    const eve = await signInByHand(service.base_url, 'eve@example.org', PASSWORD)
    for (const foreign of [id, '01890000-0000-7000-8000-000000000000', 'nope', '%00'])
      expect((await send('DELETE', `/api/auth/sessions/${foreign}`, eve)).status).toBe(404)
    expect(await statusOf(headers)).toBe(200)
    later(HOUR + 1)
    const fresh = await ada()
    expect((await send('DELETE', `/api/auth/sessions/${id}`, fresh)).status).toBe(404)
    expect(await codeOf(service.chat.auth.authenticate(new Headers({ cookie: headers.cookie })).then(() => {}))).toBe(
      'session_expired',
    )
  })

  it('follow the wall clock forward and back: an expired session stays expired', async () => {
    const [used, unused] = [await ada(), await ada()]
    later(HOUR + 1)
    expect(await statusOf(used)).toBe(401)
    expect((await send('POST', '/api/auth/refresh', used)).status).toBe(401)
    later(-HOUR)
    expect([await statusOf(used), await statusOf(unused)]).toEqual([401, 200])
    later(-HOUR)
    expect(await statusOf(unused)).toBe(200)
    // Limits that have seen a later time allow calls one by one, so time must pass.
    later(1)
    const rotated = await refreshByHand(service.base_url, unused)
    later(1)
    expect(await statusOf(rotated)).toBe(200)
    later(HOUR)
  })

  it.each([
    ['idle', -1, 200],
    ['idle', 0, 200],
    ['idle', 1, 401],
    ['absolute', -1, 200],
    ['absolute', 0, 200],
    ['absolute', 1, 401],
  ])('last exactly as long as they may: %s limit %i s, also after a restart', async (limit, offset, status) => {
    const headers = await ada()
    if (limit === 'absolute') {
      for (let hour = 0; hour < 10; hour++) {
        expect(await statusOf(headers)).toBe(200)
        later(HOUR - 1)
      }
      expect(await statusOf(headers)).toBe(200)
      later(10 + offset)
    } else later(HOUR + offset)
    const onOther = await checkedFetch(`${node.base_url}/api/auth/me`, { headers })
    expect([await statusOf(headers), onOther.status]).toEqual([status, status])
  })

  it('are not extended by an open stream', async () => {
    const headers = await ada()
    const stream = await openStream(service.base_url, undefined, headers)
    await stream.until('stream.ready')
    later(HOUR + 1)
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
  })

  it('have an audit entry when they end by signing out', async () => {
    const person = service.client()
    const { user } = await person.auth.login({ email: 'eve@example.org', password: PASSWORD })
    await person.auth.logout()
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT actor_id, ip FROM audit_log WHERE act = 'logout'`)).toEqual([
      { actor_id: user.id, ip: '127.0.0.1' },
    ])
  })
})
