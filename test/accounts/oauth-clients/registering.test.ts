import { beforeAll, expect, it } from 'vitest'
import { OAuthError } from '../../../lib/accounts/oauth-clients/failures.ts'
import { MAX_REGISTRATIONS, registerClient } from '../../../lib/accounts/oauth-clients/registering.ts'
import { insertClient, touchClient } from '../../../lib/accounts/oauth-clients/store.ts'
import { DAY, HOUR } from '../../../lib/core/units.ts'
import { prune } from '../../../lib/ops/retention.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, startService } from '../../support/service.ts'

/** The clock of the services. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

describeService(
  'a client that registers itself',
  (url) => startService(url, { ports: { now } }),
  (service) => {
    beforeAll(() => service.signIn('ada'))
    let network = 0
    const register = (content: unknown, ip = `192.0.2.${++network}`) => registerClient(innerState(service), content, ip)
    const kinds = () =>
      innerState(service).db.all<{ id: string; kind: string }>(sql`SELECT id, kind FROM oauth_clients ORDER BY id`)
    const METADATA = { client_name: 'Edi\u202etor', redirect_uris: ['http://localhost/callback', 'cursor://callback'] }

    it('gets an id, the redirects that are allowed, and no secret', async () => {
      const more = { token_endpoint_auth_method: 'client_secret_basic', scope: 'all', grant_types: ['implicit'] }
      const client = await register({ ...METADATA, ...more })
      expect(client).toEqual({
        client_id: expect.any(String),
        client_id_issued_at: expect.any(Number),
        client_name: 'Editor',
        redirect_uris: ['http://localhost/callback'],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      })
      expect(Math.abs(client.client_id_issued_at - now() / 1_000_000)).toBeLessThan(60)
      expect(await kinds()).toEqual([{ id: client.client_id, kind: 'registered' }])
      expect(await register({ ...METADATA, client_name: undefined })).toMatchObject({ client_name: 'An application' })
    })

    it.each<[string, unknown, string]>([
      ['no object', 'text', 'invalid_client_metadata'],
      ['no redirects', { client_name: 'Editor' }, 'invalid_client_metadata'],
      ['a name of another type', { ...METADATA, client_name: 7 }, 'invalid_client_metadata'],
      ['no redirect that is allowed', { redirect_uris: ['cursor://callback'] }, 'invalid_redirect_uri'],
    ])('is refused with %s', async (_title, content, error) => {
      const refused = await register(content).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(OAuthError)
      expect(refused).toMatchObject({ error, status: 400 })
    })

    it('is one of 20 of its network in an hour', async () => {
      for (let n = 0; n < 20; n++) await register(METADATA, '2001:db8::1')
      expect(await codeOf(register(METADATA, '2001:db8::2'))).toBe('rate_limited')
      await register(METADATA, '2001:db8:1::1')
      ahead += 2 * HOUR
      await register(METADATA, '2001:db8::2')
    })

    it('is deleted after a day, unless a user has allowed it something', async () => {
      const [unused, used] = [await register(METADATA), await register(METADATA)]
      const ctx = innerState(service)
      ahead += HOUR
      await ctx.write((tx) => touchClient(tx, used!.client_id, { at: now(), pause: 0 }))
      ahead += 22 * HOUR
      await prune(ctx)
      const ids = async () => (await kinds()).map(({ id }) => id)
      expect(await ids()).toEqual(expect.arrayContaining([unused!.client_id, used!.client_id]))
      ahead += 2 * HOUR
      await prune(ctx)
      expect(await ids()).toEqual([used!.client_id])
      ahead += 91 * DAY
      await prune(ctx)
      expect(await ids()).toEqual([])
    })

    it('is one of 1,000, beside those of the operator', async () => {
      const ctx = innerState(service)
      const client = { name: 'Editor', redirect_uris: ['http://localhost/'], created_at: now() }
      await ctx.write(async (tx) => {
        for (let n = 0; n < MAX_REGISTRATIONS - 1; n++)
          await insertClient(tx, { ...client, client_id: ctx.id(), kind: 'registered' })
        await insertClient(tx, { ...client, client_id: ctx.id(), kind: 'operator' })
      })
      const settled = await Promise.allSettled([register(METADATA), register(METADATA), register(METADATA)])
      const reasons = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      expect(reasons).toMatchObject([
        { error: 'temporarily_unavailable', status: 503 },
        { error: 'temporarily_unavailable', status: 503 },
      ])
    })
  },
)
