import { beforeAll, expect, it } from 'vitest'
import { createChatClient } from '../../../lib/client/index.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, type Person } from '../../support/service.ts'

describeOnEachDatabase('an API key', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl(), { ports: { now: () => now } }))
  let ada: Person
  let grace: Person
  let conversation_id: string
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    ;({ conversation_id } = await ada.conversations.create({}))
  })

  /** A client with a new key of Ada's. */
  const makeBot = async (expires_at?: string) => {
    const { key, id } = await ada.keys.create({ name: 'bot', ...(expires_at && { expires_at }) })
    return { id, bot: createChatClient({ base_url: node.base_url, fetch: checkedFetch, api_key: key }) }
  }

  it('invites no owner or admin, gives no user the role owner, and removes no owner', async () => {
    const { bot } = await makeBot()
    for (const role of ['owner', 'admin'] as const) {
      expect(await codeOf(bot.invites.create(conversation_id, { role }))).toBe('forbidden')
      const to = { email: 'new@example.org', role }
      expect(await codeOf(bot.participants.add(conversation_id, to))).toBe('forbidden')
    }
    expect(await codeOf(bot.participants.add(conversation_id, { user_id: grace.id, role: 'owner' }))).toBe('forbidden')
    await bot.participants.add(conversation_id, { user_id: grace.id, role: 'admin' })
    expect(await codeOf(bot.participants.changeRole(conversation_id, grace.id, { role: 'owner' }))).toBe('forbidden')
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'owner' })
    expect(await codeOf(bot.participants.changeRole(conversation_id, grace.id, { role: 'member' }))).toBe('forbidden')
    expect(await codeOf(bot.participants.remove(conversation_id, grace.id))).toBe('forbidden')
    expect(await codeOf(bot.participants.remove(conversation_id, ada.id))).toBe('forbidden')
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'member' })
    await bot.participants.remove(conversation_id, grace.id)
  })

  it('makes invites that end when it is revoked or expires, on every node, and that are in no list then', async () => {
    const lasting = await ada.invites.create(conversation_id, {})
    const { id, bot } = await makeBot()
    const short = await makeBot('2026-01-01T01:00:00Z')
    const first = await bot.invites.create(conversation_id, {})
    const second = await short.bot.invites.create(conversation_id, { role: 'viewer' })
    const listed = async () => (await ada.invites.list(conversation_id)).invites.map((each) => each.id).sort()
    const all = [lasting, first, second].map(({ invite_id }) => invite_id)
    expect(await listed()).toEqual([...all].sort())
    await ada.keys.revoke(id)
    expect(await codeOf(grace.invites.accept({ token: first.token! }))).toBe('invite_revoked')
    expect(await listed()).toEqual([lasting.invite_id, second.invite_id].sort())
    now += 3601 * SECOND
    const newcomer = { username: 'newcomer', email: 'newcomer@example.org', password: 'correct horse battery' }
    expect(await codeOf(node.client().invites.accept({ token: second.token!, ...newcomer }))).toBe('invite_revoked')
    const { invites, total } = await ada.invites.list(conversation_id)
    expect([invites.map((each) => each.id), total]).toEqual([[lasting.invite_id], 1])
    await grace.invites.accept({ token: lasting.token! })
  })
})
