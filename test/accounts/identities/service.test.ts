import { beforeAll, expect, it } from 'vitest'
import { insertIdentity } from '../../../lib/accounts/identities/store.ts'
import { toInstant } from '../../../lib/core/time.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, UNREACHABLE_PROVIDER } from '../../support/service.ts'

describeOnEachDatabase('identities at providers', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    const options = { config: { oauth: { provider_a: UNREACHABLE_PROVIDER, provider_b: UNREACHABLE_PROVIDER } } }
    return [await startService(url, options), await startService(url, options)]
  })
  beforeAll(async () => {
    await service.signIn('founder')
  })

  async function linkTo({ id: user_id }: Person, provider: string, issuer = `https://${provider}.example`) {
    const { write, now, id } = innerState(service)
    const row = { id: id(), provider, issuer, subject: `${user_id} there`, user_id, created_at: now() }
    await write((tx) => insertIdentity(tx, row))
    return row
  }
  const forgetPassword = ({ id }: Person) =>
    innerState(service).write((tx) => tx.run(sql`UPDATE users SET password_hash = NULL WHERE id = ${id}`))
  const remove = (by: Person, identity_id: string) => by.identities.remove(identity_id)

  it('are listed newest first and removed by their user only, with an audit entry', async () => {
    const [ada, eve] = [await service.signIn('ada'), await service.signIn('eve')]
    const [a, b] = [await linkTo(ada, 'provider_a'), await linkTo(ada, 'provider_b')]
    // The host's own authentication is not a provider.
    await linkTo(ada, 'host', '')
    const shown = ({ user_id: _, created_at, ...row }: typeof a) => ({ ...row, created_at: toInstant(created_at) })
    expect(await ada.identities.list()).toEqual({ identities: [b, a].map(shown) })
    expect(await eve.identities.list()).toEqual({ identities: [] })
    for (const id of [a.id, 'nope']) expect(await codeOf(remove(eve, id))).toBe('not_found')
    await remove(ada, a.id)
    await remove(ada, b.id)
    expect(await codeOf(remove(ada, a.id))).toBe('not_found')
    expect(await ada.identities.list()).toEqual({ identities: [] })
    const acts = "SELECT actor_id, subject_id, ip, detail FROM audit_log WHERE act = 'identity.removed' ORDER BY id"
    expect(await innerState(service).db.all(statement(acts))).toEqual(
      ['provider_a', 'provider_b'].map((provider) => ({
        actor_id: ada.id,
        subject_id: ada.id,
        ip: '127.0.0.1',
        detail: JSON.stringify({ provider }),
      })),
    )
  })

  it('cannot all be removed: of two removed at once on two nodes, one stays', async () => {
    const grace = await service.signIn('grace')
    const rows = [await linkTo(grace, 'provider_a'), await linkTo(grace, 'provider_b')]
    await forgetPassword(grace)
    const actor = await service.chat.users.actor(grace.id)
    const results = await Promise.allSettled(
      rows.map(({ id }, index) => [service, node][index]!.chat.identities.remove(actor, id)),
    )
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const { identities } = await grace.identities.list()
    expect(identities).toHaveLength(1)
    expect(await codeOf(remove(grace, identities[0]!.id))).toBe('conflict')
  })

  it('do not count as a means of sign-in without a configured provider', async () => {
    const dora = await service.signIn('dora')
    const [gone, here] = [await linkTo(dora, 'former_provider'), await linkTo(dora, 'provider_a')]
    await forgetPassword(dora)
    expect(await codeOf(remove(dora, here.id))).toBe('conflict')
    await remove(dora, gone.id)
  })
})
