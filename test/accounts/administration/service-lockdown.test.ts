import { beforeAll, expect, it } from 'vitest'
import { insertIdentity } from '../../../lib/accounts/identities/store.ts'
import { createChatClient } from '../../../lib/client/index.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('a lockdown', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl()))
  beforeAll(async () => {
    await service.signIn('founder')
  })

  it('ends the sessions, keys, identities, reset links and invites of a user at once, on every node', async () => {
    const { chat } = service
    const grace = await service.signIn('grace')
    const { conversation_id } = await grace.conversations.create({})
    const { token = '' } = await grace.invites.create(conversation_id, {})
    const { key } = await grace.keys.create({ name: 'a bot' })
    const reset = await chat.resets.issue(OPERATOR, { email: grace.email })
    const linked = { provider: 'p', issuer: 'https://p.example', subject: 'grace', user_id: grace.id }
    for (const row of [linked, { ...linked, provider: 'host', issuer: '' }])
      await innerState(chat).write((tx) => insertIdentity(tx, { ...row, id: innerState(chat).id(), created_at: 1 }))
    const streams = [
      await openStream(service.base_url, undefined, { authorization: `Bearer ${key}` }),
      await openStream(node.base_url, undefined, await signInByHand(node.base_url, grace.email, PASSWORD)),
    ]
    for (const stream of streams) await stream.until('stream.ready')

    const founder = await service.signIn('founder')
    const ended = await founder.users.lockDown(grace.id)
    expect(ended).toEqual({ sessions: 2, keys: 1, identities: 1, invites: 1 })
    for (const stream of streams)
      expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    const bot = createChatClient({ base_url: node.base_url, fetch: checkedFetch, api_key: key })
    expect(await codeOf(bot.auth.me())).toBe('unauthenticated')
    expect(await codeOf(chat.resets.redeem({}, { token: reset.token, password: 'incorrect pony' }))).toBe('not_found')
    expect(await codeOf(founder.invites.accept({ token }))).toBe('invite_revoked')
    // The host's own authentication still finds its user.
    expect(await innerState(chat).db.all(sql`SELECT provider FROM identities`)).toEqual([{ provider: 'host' }])
    const rows = "SELECT actor_id, subject_id, detail FROM audit_log WHERE act = 'user.locked_down'"
    expect(await innerState(chat).db.all(statement(rows))).toEqual([
      { actor_id: founder.id, subject_id: grace.id, detail: JSON.stringify(ended) },
    ])
    await service.client().auth.login({ email: grace.email, password: PASSWORD })
    expect(await codeOf(founder.users.lockDown(conversation_id))).toBe('not_found')
    const bare = { ...(await chat.users.actor(founder.id)), key_id: 'a key' }
    expect(await codeOf(chat.users.lockDown(bare, grace.id))).toBe('forbidden')
  })
})
