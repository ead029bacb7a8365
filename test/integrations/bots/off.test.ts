import { expect, it, onTestFinished } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { callWith } from '../../accounts/server-keys/calls.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, startService } from '../../support/service.ts'

describeOnEachDatabase('bots that are turned off, or beside the login of a host', (openUrl) => {
  it('are unknown, and neither their keys nor a server key act for them', async () => {
    const url = await openUrl()
    const before = await startService(url)
    const ada = await before.signIn('ada')
    const { bot: made, key } = await ada.bots.create({ username: 'deploys' })
    const { conversation_id } = await ada.conversations.create({})
    await ada.participants.add(conversation_id, { user_id: made.id })
    const command = { name: 'deploy', description: 'Deploys' }
    await ada.commands.setOfBot(made.id, { commands: [command] })
    await before.chat.commands.set(await before.chat.system('shop'), { commands: [command] })
    expect((await ada.commands.list(conversation_id)).commands).toHaveLength(2)
    await before.close()
    const service = await startService(url, { config: { bots: {} } })
    onTestFinished(() => service.close())
    const again = await service.signIn('ada')
    for (const call of [() => again.bots.list(), () => again.bots.create({ username: 'other' })])
      expect(await codeOf(call())).toBe('not_found')
    // Nobody would hear of a call.
    expect((await again.commands.list(conversation_id)).commands).toMatchObject([{ bot: { kind: 'system' } }])
    expect(await codeOf(again.commands.invoke(conversation_id, { bot_id: made.id, name: 'deploy' }))).toBe('not_found')
    const bot = createAdminClient({ base_url: service.base_url, api_key: key, fetch: checkedFetch, retry_ms: 10 })
    expect(await codeOf(bot.auth.me())).toBe('unauthenticated')
    const shop = await service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['act_as'] })
    const answer = await callWith(service, shop.key, 'GET /api/auth/me', { act_as: `user:${made.id}` })
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  it('work beside the login of a host', async () => {
    const identity = ({ headers }: { headers: Headers }) => {
      const [, subject] = /^Bearer host-(.+)$/.exec(headers.get('authorization') ?? '') ?? []
      return subject === undefined ? undefined : { subject }
    }
    const service = await startService(await openUrl(), { ports: { identity } })
    onTestFinished(() => service.close())
    const as = (api_key: string) =>
      createAdminClient({ base_url: service.base_url, api_key, fetch: checkedFetch, retry_ms: 10 })
    const { bot, key } = await as('host-ada').bots.create({ username: 'deploys' })
    expect((await as(key).auth.me()).user.id).toBe(bot.id)
    expect(await codeOf(as('csb_unknown').auth.me())).toBe('unauthenticated')
  })

  it('without an owner are found by fsck', async () => {
    const service = await startService(await openUrl())
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { bot } = await ada.bots.create({ username: 'deploys' })
    const { db } = innerState(service)
    expect((await service.chat.ops.fsck()).findings.filter(({ name }) => name === 'keys-of-owned-bots')).toEqual([])
    await db.run(sql`UPDATE users SET owner_id = 'gone' WHERE id = ${bot.id}`)
    expect((await service.chat.ops.fsck()).findings).toMatchObject([{ name: 'keys-of-owned-bots' }])
  })
})
