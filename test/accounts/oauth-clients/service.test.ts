import { beforeAll, expect, it } from 'vitest'
import { grantCode } from '../../../lib/accounts/grants/codes.ts'
import { insertClient, saveDocument, touchClient } from '../../../lib/accounts/oauth-clients/store.ts'
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
    const listed = (each: object, grants = 0) => ({ ...each, kind: 'operator', grants })
    expect((await service.chat.oauthClients.list(OPERATOR)).clients).toEqual([listed(other), listed(client)])
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
    expect((await service.chat.oauthClients.list(OPERATOR)).clients).toEqual([listed(other, 1)])
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'oauth_client.deleted' })
    expect(entries).toMatchObject([{ subject_id: client.client_id, detail: { grants: 2 } }])
    // Once more is no error, and writes nothing.
    await service.chat.oauthClients.remove(OPERATOR, client.client_id)
    expect((await service.chat.audit.list(OPERATOR, { act: 'oauth_client.deleted' })).entries).toHaveLength(1)
  })

  it('are listed before those of others that users have allowed something', async () => {
    const ctx = innerState(service)
    const actor = await service.chat.users.actor(ada)
    const redirect_uri = 'https://app.example/callback'
    const document = {
      client_id: 'https://app.example/client.json',
      name: 'App',
      redirect_uris: [redirect_uri],
      auth_methods: ['none' as const],
    }
    const registered = {
      client_id: ctx.id(),
      kind: 'registered' as const,
      name: 'Agent',
      redirect_uris: [redirect_uri],
    }
    await ctx.write(async (tx) => {
      await saveDocument(tx, document, { at: ctx.now(), fresh_until: ctx.now() })
      await saveDocument(tx, { ...document, client_id: `${document.client_id}2` }, { at: ctx.now(), fresh_until: 0 })
      await insertClient(tx, { ...registered, created_at: ctx.now() })
      await insertClient(tx, { ...registered, client_id: ctx.id(), created_at: ctx.now() })
      const allowed = { client_host: 'app.example', redirect_uri, scopes: ['chat:read' as const], code_challenge: 'x' }
      for (const { client_id, name: client_name } of [document, registered, registered])
        await grantCode(ctx, tx, actor, { ...allowed, client_id, client_name })
      await touchClient(tx, registered.client_id, { at: ctx.now() + 1_000, pause: 0 })
    })
    const { clients } = await service.chat.oauthClients.list(OPERATOR)
    expect(clients.filter(({ kind }) => kind !== 'operator')).toMatchObject([
      {
        client_id: registered.client_id,
        kind: 'registered',
        name: 'Agent',
        grants: 2,
        last_used_at: expect.any(String),
      },
      { client_id: document.client_id, kind: 'document', name: 'App', grants: 1 },
    ])
    expect(clients.slice(0, -2).every(({ kind }) => kind === 'operator')).toBe(true)

    for (const [client_id, grants] of [
      [document.client_id, 1],
      [registered.client_id, 2],
    ] as const) {
      await service.chat.oauthClients.remove(OPERATOR, client_id)
      expect(await ctx.db.all(sql`SELECT id FROM grants WHERE client_id = ${client_id}`)).toEqual([])
      const { entries } = await service.chat.audit.list(OPERATOR, { act: 'oauth_client.deleted', limit: 1 })
      expect(entries).toMatchObject([{ subject_id: client_id, detail: { grants } }])
    }
    const left = (await service.chat.oauthClients.list(OPERATOR)).clients
    expect(left.filter(({ kind }) => kind !== 'operator')).toEqual([])
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
    const own = clients.filter(({ kind }) => kind === 'operator')
    const all = Array.from({ length: 101 - own.length }, () => service.chat.oauthClients.create(OPERATOR, input))
    const settled = await Promise.allSettled(all)
    expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'conflict' } }])
  })
})
