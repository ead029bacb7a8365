import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, type Person } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'

describeOnEachDatabase('the API keys of all users', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl()))
  let founder: Person
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    founder = await service.signIn('founder')
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  const withKey = (api_key: string) =>
    createAdminClient({ base_url: service.base_url, fetch: checkedFetch, retry_ms: 10, api_key })

  it('are listed newest first in pages, of one user or of all, without the key', async () => {
    const made = []
    for (const owner of [ada, grace, ada]) made.push({ ...(await owner.keys.create({ name: 'a bot' })), owner })
    await withKey(made[0]!.key).auth.me()
    const { keys, next_after } = await founder.keys.listAll()
    expect(keys.map(({ id, user_id }) => [id, user_id])).toEqual(made.map(({ id, owner }) => [id, owner.id]).reverse())
    expect(next_after).toBeUndefined()
    expect(keys[0]).toEqual({ id: made[2]!.id, user_id: ada.id, name: 'a bot', created_at: expect.any(String) })
    expect(keys[2]).toHaveProperty('last_used_at')
    for (const { key } of made) expect(JSON.stringify(keys)).not.toContain(key)

    const first = await founder.keys.listAll({ user_id: ada.id, limit: 1 })
    expect(first).toMatchObject({ keys: [{ id: made[2]!.id }], next_after: made[2]!.id })
    // The cursor stays valid without its key.
    await ada.keys.revoke(made[2]!.id)
    const rest = await founder.keys.listAll({ user_id: ada.id, limit: 1, after: first.next_after! })
    expect(rest.keys.map(({ id }) => id)).toEqual([made[0]!.id])
    expect(rest.next_after).toBeUndefined()
    expect((await founder.keys.listAll({ user_id: founder.id })).keys).toEqual([])
  })

  it('are for administrators with a session: not for others, and not for a key of an administrator', async () => {
    const { id, key } = await founder.keys.create({ name: 'nightly report' })
    for (const caller of [ada, withKey(key)]) {
      expect(await codeOf(caller.keys.listAll())).toBe('forbidden')
      expect(await codeOf(caller.keys.revokeAny(id))).toBe('forbidden')
    }
    expect((await withKey(key).auth.me()).user.id).toBe(founder.id)
  })

  it('are revoked by an administrator, more than once, and lose their streams on every node', async () => {
    const { id, key } = await grace.keys.create({ name: 'leaked' })
    const headers = { authorization: `Bearer ${key}` }
    const streams = [
      await openStream(service.base_url, undefined, headers),
      await openStream(node.base_url, undefined, headers),
    ]
    for (const stream of streams) await stream.until('stream.ready')
    for (let n = 0; n < 2; n++) expect(await founder.keys.revokeAny(id)).toBeUndefined()
    for (const stream of streams) await stream.until('stream.closed')
    expect(await codeOf(withKey(key).auth.me())).toBe('unauthenticated')
    expect(await founder.keys.revokeAny('nothing')).toBeUndefined()
    expect((await service.chat.audit.listNamed(OPERATOR, { subject_id: id, act: 'key.revoked' })).entries).toEqual([
      {
        id: expect.any(String),
        at: expect.any(String),
        act: 'key.revoked',
        actor_id: founder.id,
        subject_id: id,
        ip: '127.0.0.1',
        detail: { reason: 'admin', user_id: grace.id },
        names: { key: 'leaked' },
      },
    ])
  })
})
