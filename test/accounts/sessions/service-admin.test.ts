import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService, type TestService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('sessions of any user', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: { now: () => now },
      config: { session: { idle_seconds: 600 } },
    }),
  )
  let ada: Person
  let grace: Person
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  const { list, revoke } = {
    list: (input = {}) => service.chat.sessions.list(OPERATOR, input),
    revoke: (input: Parameters<TestService['chat']['sessions']['revoke']>[1]) =>
      service.chat.sessions.revoke(OPERATOR, input),
  }

  it('are listed in pages while they are live, of all users or of one', async () => {
    for (const _ of times(3, () => 0)) await signInByHand(service.base_url, grace.email, PASSWORD)
    const all = (await list()).sessions
    expect(all.map((session) => session.username)).toEqual(['ada', ...times(4, () => 'grace')])
    expect(all[1]).toMatchObject({
      user_id: grace.id,
      ip: expect.any(String),
      issued_at: '2026-01-01T00:00:00.000000Z',
    })
    const first = await list({ user_id: grace.id, limit: 3 })
    expect(first.sessions).toEqual(all.slice(1, 4))
    expect(await list({ user_id: grace.id, limit: 3, after: first.next_after! })).toEqual({ sessions: all.slice(4) })
    expect(JSON.stringify(all)).not.toMatch(/hash|token/)

    now += 400 * SECOND
    await ada.auth.me()
    now += 300 * SECOND
    expect((await list()).sessions.map((session) => session.username)).toEqual(['ada'])
  })

  it('end one by one, by user, or all, with their streams', async () => {
    const linus = await service.signIn('linus')
    const { cookie } = await signInByHand(service.base_url, linus.email, PASSWORD)
    const stream = await openStream(service.base_url, undefined, { cookie })
    await stream.until('stream.ready')
    const [, second] = (await list({ user_id: linus.id })).sessions
    expect(await revoke({ session_id: second!.id })).toEqual({ revoked: 1 })
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect((await linus.auth.me()).user.id).toBe(linus.id)
    expect(await revoke({ user_id: linus.id })).toEqual({ revoked: 1 })
    expect(await revoke({ user_id: linus.id })).toEqual({ revoked: 0 })
    expect(await codeOf(linus.auth.me())).toBe('unauthenticated')
    expect((await ada.auth.me()).user.id).toBe(ada.id)
    expect(await codeOf(revoke({ session_id: second!.id }))).toBe('not_found')
    expect(await codeOf(revoke({ user_id: second!.id }))).toBe('not_found')
    expect(await codeOf(revoke({} as never))).toBe('validation_failed')

    const { entries } = await ada.audit.list({ act: 'session.revoked' })
    expect(entries.map(({ subject_id, detail }) => ({ subject_id, detail }))).toEqual([
      { subject_id: linus.id, detail: { sessions: 1 } },
      { subject_id: linus.id, detail: { sessions: 1, session_id: second!.id } },
    ])
    await revoke({ all: true })
    expect(await codeOf(ada.auth.me())).toBe('unauthenticated')
    expect((await list()).sessions).toEqual([])
  })

  it('can be listed and ended by administrators only', async () => {
    const actor = { user_id: grace.id, roles: ['member' as const] }
    expect(await codeOf(service.chat.sessions.list(actor, {}))).toBe('forbidden')
    expect(await codeOf(service.chat.sessions.revoke(actor, { all: true }))).toBe('forbidden')
  })
})
