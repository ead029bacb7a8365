import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { openStream, refreshByHand, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('a replaced session token', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    const options = {
      config: { session: { max_sessions_per_user: false as const }, server: { trusted_proxies: ['127.0.0.1'] } },
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
  })

  const signIn = () => signInByHand(service.base_url, 'ada@example.org', PASSWORD)
  const read = (at: TestService, headers: Record<string, string>) =>
    checkedFetch(`${at.base_url}/api/auth/me`, { headers: { ...headers, 'x-forwarded-for': '203.0.113.9' } })
  const codeFor = async (headers: Record<string, string>, at = service) => {
    const response = await read(at, headers)
    return response.ok ? 'ok' : ((await response.json()) as { code: string }).code
  }
  const sessionOf = async (headers: Record<string, string>) =>
    (await (await read(service, headers)).json()) as { session: { id: string }; user: { id: string } }
  const replays = (sessionId: string) =>
    innerState(service).db.all<{ subject_id: string; ip: string; detail: string }>(
      sql`SELECT subject_id, ip, detail FROM audit_log WHERE act = 'session.replayed' AND detail LIKE ${`%${sessionId}%`}`,
    )

  it('ends nothing within ten seconds of the refresh: another tab may send it', async () => {
    const old = await signIn()
    const current = await refreshByHand(service.base_url, old)
    expect(await codeFor(old)).toBe('unauthenticated')
    later(10)
    expect(await codeFor(old, node)).toBe('unauthenticated')
    expect(await codeFor(current)).toBe('ok')
    expect(await replays((await sessionOf(current)).session.id)).toEqual([])
  })

  it('ends its session afterwards, with the streams on every node and an audit entry', async () => {
    const old = await signIn()
    const current = await refreshByHand(service.base_url, await refreshByHand(service.base_url, old))
    const { session, user } = await sessionOf(current)
    const streams = [
      await openStream(service.base_url, undefined, current),
      await openStream(node.base_url, undefined, current),
    ]
    for (const stream of streams) await stream.until('stream.ready')
    const other = await signIn()
    later(10.000001)
    expect(await codeFor(old, node)).toBe('unauthenticated')
    for (const stream of streams)
      expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect([await codeFor(current), await codeFor(other)]).toEqual(['unauthenticated', 'ok'])
    const detail = JSON.stringify({ session_id: session.id })
    expect(await replays(session.id)).toEqual([{ subject_id: user.id, ip: '203.0.113.9', detail }])
    expect(await codeFor(old)).toBe('unauthenticated')
    expect(await replays(session.id)).toHaveLength(1)
  })

  it('ends its session once, with concurrent refreshes and replays on two nodes', async () => {
    for (let round = 0; round < 3; round++) {
      const old = await signIn()
      const current = await refreshByHand(service.base_url, old)
      const { session } = await sessionOf(current)
      later(11)
      const refresh = (at: TestService) =>
        checkedFetch(`${at.base_url}/api/auth/refresh`, { method: 'POST', headers: current })
      const results = await Promise.all([
        ...times(4, (i) => read(i % 2 ? service : node, old)),
        ...times(2, (i) => refresh(i % 2 ? service : node)),
      ])
      expect(results.slice(0, 4).map(({ status }) => status)).toEqual([401, 401, 401, 401])
      expect(await codeFor(current)).toBe('unauthenticated')
      for (const { status, headers } of results.slice(4)) {
        const cookie = headers
          .getSetCookie()
          .map((line) => line.split(';')[0])
          .join('; ')
        if (status === 200) expect(await codeFor({ cookie })).toBe('unauthenticated')
      }
      expect(await replays(session.id)).toHaveLength(1)
      const { db } = innerState(service)
      expect(await db.all(sql`SELECT 1 AS one FROM rotated_tokens WHERE session_id = ${session.id}`)).toEqual([])
    }
  })

  it('is not forgotten after many refreshes, which are limited to a hundred per hour', async () => {
    const stolen = await signIn()
    let current = stolen
    for (let i = 0; i < 100; i++) current = await refreshByHand(service.base_url, current)
    const refused = await checkedFetch(`${node.base_url}/api/auth/refresh`, { method: 'POST', headers: current })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600'])
    later(3600)
    current = await refreshByHand(service.base_url, current)
    expect(await codeFor(current)).toBe('ok')
    expect(await codeFor(stolen)).toBe('unauthenticated')
    expect(await codeFor(current)).toBe('unauthenticated')
  })

  it('is stored as a digest, up to a thousand per session', async () => {
    const first = await signIn()
    const second = await refreshByHand(service.base_url, first)
    const { session } = await sessionOf(second)
    const { db, write } = innerState(service)
    await write(async (tx) => {
      for (let i = 0; i < 1_000; i++)
        await tx.run(
          sql`INSERT INTO rotated_tokens (token_hash, session_id, rotated_at) VALUES (${`${session.id} ${i}`}, ${session.id}, ${now + i})`,
        )
    })
    later(3601)
    const third = await refreshByHand(service.base_url, second)
    const rows = await db.all(sql`SELECT token_hash FROM rotated_tokens WHERE session_id = ${session.id}`)
    expect(rows).toHaveLength(1_000)
    expect(JSON.stringify(rows)).not.toContain(/SESSION_ID=([^;]*)/.exec(second.cookie)![1])
    expect(await codeFor(first)).toBe('unauthenticated')
    later(11)
    expect(await codeFor(third)).toBe('ok')
    expect(await codeFor(second)).toBe('unauthenticated')
    expect(await codeFor(third)).toBe('unauthenticated')
  })

  it('does not change an expired session', async () => {
    const old = await signIn()
    const current = await refreshByHand(service.base_url, old)
    later(28_801)
    expect(await codeFor(old)).toBe('unauthenticated')
    expect(await codeFor(current)).toBe('session_expired')
  })
})
