import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { endMeans } from '../../../lib/accounts/means/ending.ts'
import { lockUser } from '../../../lib/accounts/users/store.ts'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { type Actor, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, startService } from '../../support/service.ts'

describeOnEachDatabase('what ends bots and hooks', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl()))
  let serial = 0
  beforeAll(async () => {
    await service.signIn('root')
  })

  async function make() {
    const n = ++serial
    const owner = await service.signIn(`owner${n}`)
    const { bot, key } = await owner.bots.create({ username: `bot${n}` })
    const client = createAdminClient({ base_url: service.base_url, api_key: key, fetch: checkedFetch, retry_ms: 10 })
    return { owner, bot, client }
  }

  it.each<[string, (actor: Actor, bot_id: string, conversation_id: string) => Promise<unknown>]>([
    ['key of a bot', (actor, bot_id) => service.chat.bots.createKey(actor, bot_id, { name: 'of a thief' })],
    ['hook', (actor, _, conversation_id) => service.chat.hooks.create(actor, conversation_id, { name: 'of a thief' })],
  ])('no %s is made while its maker is locked down', async (_, makeAccess) => {
    const { owner, bot } = await make()
    const { conversation_id } = await owner.conversations.create({})
    const state = innerState(service)
    const [session] = await state.db.all<{ id: string }>(sql`SELECT id FROM sessions WHERE user_id = ${owner.id}`)
    const actor = { ...(await service.chat.users.actor(owner.id)), session_id: session!.id }
    let begin = () => {}
    let release = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const released = new Promise<void>((resolve) => (release = resolve))
    const ending = state.write(async (tx) => {
      await lockUser(tx, owner.id)
      await endMeans(state, tx, { user_id: owner.id }, 'lockdown', { by: {} })
      begin()
      await released
    })
    await begun
    const making = codeOf(makeAccess(actor, bot.id, conversation_id))
    // The call waits by now, or is over.
    await Promise.race([making, wait(500)])
    release()
    await ending
    expect(await making).toBe('unauthenticated')
    const left = await state.db.all(
      sql`SELECT id FROM api_keys WHERE user_id = ${bot.id} UNION SELECT id FROM hooks WHERE created_by = ${owner.id}`,
    )
    expect(left).toEqual([])
  })

  it('a conversation whose last owner is erased goes, if only bots are left', async () => {
    const { owner } = await make()
    const other = await make()
    const { conversation_id } = await owner.conversations.create({})
    await owner.participants.add(conversation_id, { user_id: other.bot.id, role: 'admin' })
    await other.client.messages.postRoot(conversation_id, { content: 'Deployed' })
    await service.chat.users.erase(OPERATOR, owner.id)
    expect(await codeOf(other.client.conversations.get(conversation_id))).toBe('not_found')
    await service.idle()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('a bot has no actor while its owner is disabled', async () => {
    const { owner, bot } = await make()
    expect(await service.chat.users.actor(bot.id)).toMatchObject({ user_id: bot.id, is_bot: true })
    await service.chat.users.change(OPERATOR, owner.id, { disabled: true })
    expect(await codeOf(service.chat.users.actor(bot.id))).toBe('account_disabled')
    await service.chat.users.change(OPERATOR, owner.id, { disabled: false })
    await service.chat.users.actor(bot.id)
  })
})
