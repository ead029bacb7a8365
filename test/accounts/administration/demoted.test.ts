import { beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../../lib/core/actor.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState } from '../../support/service.ts'

/** What an administrator changes; reads have no later transaction. */
const CHANGES = allRoutes.filter(([, { access, method }]) => access === 'admin' && method !== 'GET')

const endpoints = allRoutes.map(([, { method, path }]) => ({ method, path }))

describeService('an administrator who is demoted while a call waits', (service) => {
  let demoted: Actor
  let params: Record<string, string>
  let profile_id: string
  let assignment_id: string
  beforeAll(async () => {
    const { chat } = service
    const founder = await service.signIn('founder')
    const admin = await service.signIn('former', ['admin'])
    demoted = await chat.users.actor(admin.id)
    await chat.users.change(OPERATOR, admin.id, { roles: ['member'] })
    const grace = await service.signIn('grace')
    const { sessions } = await founder.users.listSessions(grace.id)
    const invite = await chat.newcomers.invite(OPERATOR, { email: 'new@example.org', mail: false })
    const key = await chat.keys.create(await chat.users.actor(grace.id), { name: 'script' })
    const url = 'https://receiver.example/events'
    const { webhook } = await grace.webhooks.create({ url })
    const subject = 'crm:7'
    await chat.users.ensure(OPERATOR, { subject })
    params = {
      subject,
      user_id: grace.id,
      session_id: sessions[0]!.id,
      invite_id: invite.id,
      key_id: key.id,
      webhook_id: webhook.id,
    }
    const rate = { requests_per_second: 1, burst: 1 }
    profile_id = (await chat.limits.createProfile(OPERATOR, { name: 'slow', params: rate })).id
    const limited = { profile_id, method: '*' as const, path: '/api/users' }
    assignment_id = (await chat.limits.createAssignment(OPERATOR, endpoints, limited)).id
  })

  it('has calls to be tested', () => {
    expect(CHANGES.length).toBeGreaterThan(12)
  })

  it.each(CHANGES)('changes nothing any more: %s', async (name, route) => {
    const { chat } = service
    const id = name.includes('Assignment') ? assignment_id : profile_id
    const example = route.example as Record<string, unknown> | undefined
    const call = {
      chat,
      actor: demoted,
      params: { ...params, id },
      query: route.query && {},
      body: example && 'profile_id' in example ? { ...example, profile_id } : (example ?? {}),
      headers: new Headers(),
      client: {},
      endpoints,
    }
    const rows = () => innerState(chat).db.all(sql`SELECT id FROM audit_log ORDER BY id`)
    const before = await rows()
    expect(await codeOf(Promise.resolve(route.handler(call as never)))).toBe('forbidden')
    expect(await rows()).toEqual(before)
  })
})
