import { beforeAll, expect, it } from 'vitest'
import { grantCode } from '../../../lib/accounts/grants/codes.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState } from '../../support/service.ts'

describeService('clients of the operator', (service) => {
  let ada: string
  beforeAll(async () => {
    ada = (await service.signIn('ada')).id
  })
  const input = { name: 'Editor', redirect_uris: ['http://127.0.0.1/callback', 'https://app.example/callback'] }

  it('are added, listed and deleted, with what users have allowed them', async () => {
    const client = await service.chat.oauthClients.create(OPERATOR, input)
    expect(client).toEqual({ ...input, client_id: expect.any(String), created_at: expect.any(String) })
    const other = await service.chat.oauthClients.create(OPERATOR, { ...input, name: 'Other' })
    expect((await service.chat.oauthClients.list(OPERATOR)).clients).toEqual([other, client])
    const ctx = innerState(service)
    const actor = await service.chat.users.actor(ada)
    const allowed = { client_name: 'Editor', client_host: 'app.example', redirect_uri: 'https://app.example/callback' }
    for (const { client_id } of [client, client, other])
      await ctx.write((tx) =>
        grantCode(ctx, tx, actor, { ...allowed, client_id, scopes: ['chat:read'], code_challenge: 'x' }),
      )
    const grants = () => ctx.db.all(sql`SELECT client_id FROM grants ORDER BY id`)
    expect(await grants()).toHaveLength(3)
    await service.chat.oauthClients.remove(OPERATOR, client.client_id)
    expect(await grants()).toEqual([{ client_id: other.client_id }])
    expect((await service.chat.oauthClients.list(OPERATOR)).clients).toEqual([other])
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'oauth_client.deleted' })
    expect(entries).toMatchObject([{ subject_id: client.client_id, detail: { grants: 2 } }])
    // Once more is no error, and writes nothing.
    await service.chat.oauthClients.remove(OPERATOR, client.client_id)
    expect((await service.chat.audit.list(OPERATOR, { act: 'oauth_client.deleted' })).entries).toHaveLength(1)
  })

  it.each([
    ['a redirect elsewhere without encryption', { redirect_uris: ['https://a.example/', 'http://a.example/'] }],
    ['a redirect of another scheme', { redirect_uris: ['cursor://callback'] }],
    ['no redirect', { redirect_uris: [] }],
    ['a name that turns the text', { name: '\u202eedualC' }],
    ['an empty name', { name: '' }],
  ])('have not %s', async (_title, changes) => {
    expect(await codeOf(service.chat.oauthClients.create(OPERATOR, { ...input, ...changes }))).toBe('validation_failed')
  })

  it('are of the operator alone, and at most 100', async () => {
    const actor = await service.chat.users.actor(ada)
    expect(await codeOf(service.chat.oauthClients.create(actor, input))).toBe('forbidden')
    expect(await codeOf(service.chat.oauthClients.list(actor))).toBe('forbidden')
    expect(await codeOf(service.chat.oauthClients.remove(actor, 'x'))).toBe('forbidden')
    const { clients } = await service.chat.oauthClients.list(OPERATOR)
    const all = Array.from({ length: 101 - clients.length }, () => service.chat.oauthClients.create(OPERATOR, input))
    const settled = await Promise.allSettled(all)
    expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'conflict' } }])
  })
})
