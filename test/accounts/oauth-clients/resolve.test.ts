import { beforeAll, describe, expect, it } from 'vitest'
import { OAuthError } from '../../../lib/accounts/oauth-clients/failures.ts'
import { findStoredClient, resolveClient } from '../../../lib/accounts/oauth-clients/resolve.ts'
import { DAY, HOUR, MINUTE } from '../../../lib/core/units.ts'
import { prune } from '../../../lib/ops/retention.ts'
import { hasOpenssl } from '../../outgoing/outgoing.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, startService } from '../../support/service.ts'
import { documentOf, letRead, startClientHost } from './client-host.ts'

/** The clock of the services. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

const config = { server: { public_url: 'https://chat.example.org' }, mcp: { oauth: { enabled: true } } }

describe.runIf(hasOpenssl)('a client by its document (openssl)', () => {
  describeService(
    'of a service',
    (url) => startService(url, { config, ports: { now } }),
    (service) => {
      let ada: string
      beforeAll(async () => {
        ada = (await service.signIn('ada')).id
      })

      /** A host with a document, which the service reads. */
      async function setUp() {
        const host = await startClientHost()
        letRead(service.chat, host)
        const id = `${host.origin}/client.json`
        host.at['/client.json'] = documentOf(id)
        const ctx = innerState(service)
        // Each test has a user of its own hour.
        ahead += 2 * HOUR
        return { host, id, ctx, resolve: (user = ada) => resolveClient(ctx, id, user) }
      }

      /** Why a client is refused. */
      const refusalOf = async (call: Promise<unknown>) => {
        const error = await call.catch((error: unknown) => error)
        expect(error).toBeInstanceOf(OAuthError)
        expect(error).toMatchObject({ error: 'invalid_client', status: 400 })
        return (error as OAuthError).message
      }

      it('is read for a user who is signed in, and then is stored for its time', async () => {
        const { host, id, ctx, resolve } = await setUp()
        expect(await findStoredClient(ctx, id)).toBeUndefined()
        const client = await resolve()
        expect(client).toEqual({
          client_id: id,
          name: 'Claude',
          host: new URL(id).host,
          redirect_uris: ['https://app.test/callback', 'http://localhost/callback'],
          auth_methods: ['none'],
        })
        expect(await findStoredClient(ctx, id)).toEqual(client)
        ahead += 5 * MINUTE - 10_000_000
        expect(await resolve()).toEqual(client)
        expect(host.requests).toHaveLength(1)
        ahead += 10_000_000
        host.at['/client.json'] = documentOf(id, { client_name: 'Other', redirect_uris: ['https://app.test/new'] })
        expect(await resolve()).toMatchObject({ name: 'Other', redirect_uris: ['https://app.test/new'] })
        expect(await findStoredClient(ctx, id)).toMatchObject({ name: 'Other' })
        expect(host.requests).toHaveLength(2)
      })

      it('is used for seven days while its host fails, which is asked every five minutes', async () => {
        const { host, ctx, id, resolve } = await setUp()
        const client = await resolve()
        host.at['/client.json'] = (response) => response.writeHead(503).end()
        ahead += 7 * DAY - 10 * MINUTE
        expect(await resolve()).toEqual(client)
        expect(await resolve()).toEqual(client)
        expect(host.requests).toHaveLength(2)
        await prune(ctx)
        expect(await findStoredClient(ctx, id)).toEqual(client)
        ahead += 10 * MINUTE
        expect(await refusalOf(resolve())).toContain('status 503')
        expect(host.requests).toHaveLength(3)
        await prune(ctx)
        expect(await findStoredClient(ctx, id)).toBeUndefined()
      })

      it.each<[string, object | undefined, string]>([
        ['that is gone', undefined, 'status 404'],
        ['of another client', documentOf('https://app.test/other'), 'client_id'],
        ['without a redirect', documentOf('', { redirect_uris: [] }), 'lacks a field'],
      ])('is refused at once for a document %s', async (_title, content, reason) => {
        const { host, resolve } = await setUp()
        await resolve()
        if (content) host.at['/client.json'] = content
        else delete host.at['/client.json']
        ahead += 5 * MINUTE
        expect(await refusalOf(resolve())).toContain(reason)
        // It is not read at each visit.
        const read = host.requests.length
        expect(await refusalOf(resolve())).toContain('a few minutes ago')
        expect(host.requests).toHaveLength(read)
        host.at['/client.json'] = documentOf(`${host.origin}/client.json`)
        ahead += 5 * MINUTE
        expect(await resolve()).toMatchObject({ name: 'Claude' })
      })

      it('is one of ten new ones that a user has read in an hour', async () => {
        const { host, ctx } = await setUp()
        const ids = Array.from({ length: 12 }, (_, n) => `/clients/${n}`)
        for (const path of ids.slice(1)) host.at[path] = documentOf(host.origin + path)
        expect(await refusalOf(resolveClient(ctx, host.origin + ids[0]!, ada))).toContain('404')
        for (const path of ids.slice(1, 10)) await resolveClient(ctx, host.origin + path, ada)
        expect(await codeOf(resolveClient(ctx, host.origin + ids[10]!, ada))).toBe('rate_limited')
        expect(await resolveClient(ctx, host.origin + ids[9]!, ada)).toMatchObject({ name: 'Claude' })
        expect(await resolveClient(ctx, host.origin + ids[11]!, 'another')).toMatchObject({ name: 'Claude' })
        ahead += HOUR + MINUTE
        expect(await resolveClient(ctx, host.origin + ids[10]!, ada)).toMatchObject({ name: 'Claude' })
      })

      it('is none for an id that is no URL, nor too long', async () => {
        const { ctx, host } = await setUp()
        for (const id of ['claude', '', 'http://app.test/a', `${host.origin}/${'a'.repeat(600)}`])
          expect(await refusalOf(resolveClient(ctx, id, ada))).toBe('This application is not known here.')
        expect(host.requests).toEqual([])
      })
    },
  )
})
