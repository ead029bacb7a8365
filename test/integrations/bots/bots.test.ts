import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type ChatError, OPERATOR } from '../../../lib/index.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, type Person, type TestService } from '../../support/service.ts'

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: ChatError) => [error.code, error.reason],
  )

function as(service: TestService, api_key: string) {
  return createAdminClient({ base_url: service.base_url, api_key, fetch: checkedFetch, retry_ms: 10 })
}

describeOnEachDatabase('bots', (openUrl) => {
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: { bots: { enabled: true, max_per_user: 3, messages_per_min: 3 }, direct: { who: 'everyone' } },
      ports: { now },
    }),
  )
  let root: Person
  let serial = 0
  beforeAll(async () => {
    root = await service.signIn('root')
  })

  /** A person with a bot, and the client of the bot. */
  async function make(options: { description?: string } = {}) {
    const n = ++serial
    const owner = await service.signIn(`owner${n}`)
    const { bot, key } = await owner.bots.create({ username: `bot${n}`, ...options })
    return { owner, bot, key, client: as(service, key) }
  }

  it('a bot is a user of its own, which acts by its key and has no address', async () => {
    const { owner, bot, key, client } = await make({ description: 'Posts what is deployed' })
    expect(key).toMatch(/^csb_[\w-]{43}$/)
    expect(bot).toMatchObject({ kind: 'bot', owner_id: owner.id, description: 'Posts what is deployed' })
    const { user } = await client.auth.me()
    expect(user).toMatchObject({ id: bot.id, kind: 'bot', roles: ['member'] })
    expect(user).not.toHaveProperty('email')
    expect(await owner.bots.list()).toEqual({ bots: [bot] })
    const { users } = await root.users.search({ ids: bot.id })
    expect(users).toEqual([{ id: bot.id, username: bot.username, kind: 'bot' }])
    expect(await root.users.describe(bot.id)).toMatchObject({
      user: { kind: 'bot', owner_id: owner.id },
      has_password: false,
      keys: 1,
    })
  })

  it('only the owner changes, lists keys of and erases a bot, and nothing of it by a key', async () => {
    const { owner, bot, client } = await make()
    const eve = await service.signIn('eve')
    const { keys } = await owner.bots.listKeys(bot.id)
    const personal = as(service, (await owner.keys.create({ name: 'own' })).key)
    const calls = (by: Pick<Person, 'bots'>) => [
      () => by.bots.change(bot.id, { description: 'mine' }),
      () => by.bots.listKeys(bot.id),
      () => by.bots.createKey(bot.id, { name: 'mine' }),
      () => by.bots.revokeKey(bot.id, keys[0]!.id),
      () => by.bots.remove(bot.id),
    ]
    for (const call of calls(eve)) expect(await codeOf(call())).toBe('not_found')
    for (const by of [personal, client]) {
      for (const call of calls(by)) expect(await failureOf(call())).toEqual(['forbidden', 'key'])
      expect(await failureOf(by.bots.create({ username: 'another' }))).toEqual(['forbidden', 'key'])
    }
    expect(await codeOf(client.keys.create({ name: 'of a bot' }))).toBe('forbidden')
    const reader = await service.signIn('reader', ['read_only'])
    expect(await failureOf(reader.bots.create({ username: 'another' }))).toEqual(['forbidden', 'role'])
  })

  it('has a maximum of bots for each user, also at the same time', async () => {
    const owner = await service.signIn('busy')
    const results = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => failureOf(owner.bots.create({ username: `busy-${n}` }))),
    )
    expect(results.filter((result) => result === undefined)).toHaveLength(3)
    expect(results.filter((result) => result?.[0] === 'conflict')).toHaveLength(2)
    const { id } = (await owner.bots.list()).bots[0]!
    await owner.bots.remove(id)
    await owner.bots.create({ username: 'busy-6' })
  })

  it('several keys act as one bot, and a revoked one is refused on every node', async () => {
    const { owner, bot, client } = await make()
    const second = await owner.bots.createKey(bot.id, { name: 'second' })
    expect(second.key).toMatch(/^csb_/)
    const other = as(node, second.key)
    expect((await other.auth.me()).user.id).toBe(bot.id)
    await owner.bots.revokeKey(bot.id, second.id)
    expect(await codeOf(other.auth.me())).toBe('unauthenticated')
    expect(await codeOf(owner.bots.revokeKey(bot.id, second.id))).toBe('not_found')
    await client.auth.me()
  })

  it('what a bot creates belongs to its owner, and the bot is an admin there', async () => {
    const { owner, bot, client } = await make()
    const { conversation_id, conversation } = await client.conversations.create({ title: 'Deploys' })
    expect(conversation.participants.map(({ user_id, role, kind }) => [user_id, role, kind])).toEqual(
      expect.arrayContaining([
        [owner.id, 'owner', undefined],
        [bot.id, 'admin', 'bot'],
      ]),
    )
    expect(conversation.can).toEqual((await client.conversations.get(conversation_id)).can)
    const { notifications } = await owner.notifications.list()
    expect(notifications).toMatchObject([{ kind: 'added', conversation_id, actor_user_id: bot.id }])
    expect(await codeOf(client.conversations.remove(conversation_id))).toBe('forbidden')
    const { message_id } = await client.messages.postRoot(conversation_id, { content: 'Deployed' })
    expect(await owner.messages.get(message_id)).toMatchObject({ author_user_id: bot.id, author_kind: 'bot' })
    const page = await owner.conversations.list()
    expect(page.conversations[0]).toMatchObject({ last_message: { author_kind: 'bot' } })
  })

  it('never owns a conversation but a direct one', async () => {
    const { owner, bot, client } = await make()
    const { conversation_id } = await owner.conversations.create({})
    expect(await codeOf(owner.participants.add(conversation_id, { user_id: bot.id, role: 'owner' }))).toBe('conflict')
    await owner.participants.add(conversation_id, { user_id: bot.id, role: 'admin' })
    expect(await codeOf(owner.participants.changeRole(conversation_id, bot.id, { role: 'owner' }))).toBe('conflict')
    const direct = await client.conversations.direct({ user_id: owner.id })
    expect(direct.conversation.participants.map(({ role }) => role)).toEqual(['owner', 'owner'])
    expect((await owner.conversations.get(direct.conversation_id)).with).toMatchObject({ kind: 'bot' })
  })

  it('invites no addresses', async () => {
    const { owner, client } = await make()
    const { conversation_id } = await client.conversations.create({})
    for (const call of [
      () => client.participants.add(conversation_id, { email: 'new@example.org' }),
      () => client.invites.create(conversation_id, { email: 'new@example.org' }),
    ])
      expect(await failureOf(call())).toEqual(['forbidden', 'key'])
    await owner.invites.create(conversation_id, { email: 'new@example.org' })
  })

  it('has no inbox: neither a mention, a reply, a direct message nor being added notifies it', async () => {
    const { owner, bot, client } = await make()
    const { conversation_id } = await owner.conversations.create({})
    await owner.participants.add(conversation_id, { user_id: bot.id })
    const { message_id } = await client.messages.postRoot(conversation_id, { content: 'Deployed' })
    await owner.messages.reply(message_id, { content: `Thanks @${bot.username}` })
    await owner.messages.postRoot(conversation_id, { content: 'All', mentions: { all: true } })
    const direct = await owner.conversations.direct({ user_id: bot.id })
    await owner.messages.postRoot(direct.conversation_id, { content: 'Hello' })
    expect((await client.notifications.list()).notifications).toEqual([])
    expect(await failureOf(client.conversations.setSettings(conversation_id, { level: 'all' }))).toEqual([
      'forbidden',
      'key',
    ])
  })

  it('posts so many messages a minute in each conversation', async () => {
    const { client } = await make()
    const one = await client.conversations.create({})
    const other = await client.conversations.create({})
    const { message_id } = await client.messages.postRoot(one.conversation_id, { content: '1' })
    await client.messages.reply(message_id, { content: '2' })
    await client.messages.reply(message_id, { content: '3' })
    expect(await codeOf(client.messages.reply(message_id, { content: '4' }))).toBe('rate_limited')
    expect(await codeOf(client.messages.postRoot(one.conversation_id, { content: '4' }))).toBe('rate_limited')
    await client.messages.postRoot(other.conversation_id, { content: '1' })
    ahead += 60 * SECOND
    await client.messages.postRoot(one.conversation_id, { content: '4' })
  })

  it('keys stop while the owner is disabled, on every node, and work again afterwards', async () => {
    const { owner, key, client } = await make()
    await client.auth.me()
    await service.chat.users.change(OPERATOR, owner.id, { disabled: true })
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    expect(await codeOf(as(node, key).auth.me())).toBe('unauthenticated')
    await service.chat.users.change(OPERATOR, owner.id, { disabled: false })
    await client.auth.me()
  })

  it('an open stream of a bot ends when its owner is disabled', async () => {
    const { owner, key } = await make()
    const stream = await fetch(`${service.base_url}/api/stream`, { headers: { authorization: `Bearer ${key}` } })
    expect(stream.status).toBe(200)
    await service.chat.users.change(OPERATOR, owner.id, { disabled: true })
    // The body ends: the service has closed the stream.
    expect(await stream.text()).toContain('session_ended')
  })

  it('is disabled by its owner; what an administrator has disabled, only an administrator enables', async () => {
    const { owner, bot, client } = await make()
    const shown = async () => (await owner.bots.list()).bots.find(({ id }) => id === bot.id)
    const { bot: disabled } = await owner.bots.change(bot.id, { disabled: true })
    expect(disabled).toEqual({ ...bot, disabled: true, disabled_reason: 'user' })
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    expect((await owner.bots.change(bot.id, { disabled: false })).bot).toEqual(bot)
    await client.auth.me()
    await owner.bots.change(bot.id, { disabled: true })
    await service.chat.users.change(OPERATOR, bot.id, { disabled: true })
    expect(await shown()).toEqual({ ...bot, disabled: true, disabled_reason: 'admin' })
    // It stays with the administrator when its owner disables it once more.
    expect((await owner.bots.change(bot.id, { disabled: true })).bot).toMatchObject({ disabled_reason: 'admin' })
    expect(await failureOf(owner.bots.change(bot.id, { disabled: false }))).toEqual(['forbidden', 'role'])
    await service.chat.users.change(OPERATOR, bot.id, { disabled: false })
    await client.auth.me()
  })

  it('is renamed, and another user of the name stays', async () => {
    const { owner, bot } = await make()
    expect(await codeOf(owner.bots.change(bot.id, { username: 'root' }))).toBe('username_taken')
    const changed = await owner.bots.change(bot.id, { username: 'renamed', display_name: 'Renamed', description: '' })
    expect(changed.bot).toEqual({ ...bot, username: 'renamed', display_name: 'Renamed' })
  })

  it('is erased with its owner, unless it was given away', async () => {
    const { owner, bot, client } = await make()
    const kept = await owner.bots.create({ username: `kept-${bot.username}` })
    const { conversation_id } = await client.conversations.create({})
    await client.messages.postRoot(conversation_id, { content: 'Deployed' })
    const { user } = await root.users.change(kept.bot.id, { owner_id: root.id })
    expect(user.owner_id).toBe(root.id)
    await service.chat.users.erase(OPERATOR, owner.id)
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    await service.idle()
    expect(await codeOf(root.users.describe(bot.id))).toBe('not_found')
    expect((await as(service, kept.key).auth.me()).user.id).toBe(kept.bot.id)
    expect((await root.bots.list()).bots.map(({ id }) => id)).toEqual([kept.bot.id])
    await root.bots.remove(kept.bot.id)
  })

  it('belongs to a person with an active account alone', async () => {
    const { owner, bot } = await make()
    const other = await make()
    for (const owner_id of [bot.id, other.bot.id, '01890000-0000-7000-8000-000000000000'])
      expect(await codeOf(root.users.change(bot.id, { owner_id }))).toBe('conflict')
    expect(await codeOf(root.users.change(owner.id, { owner_id: root.id }))).toBe('conflict')
    for (const input of [{ roles: ['admin'] }, { password: 'correct horse battery' }, { email: 'bot@example.org' }])
      expect(await codeOf(service.chat.users.change(OPERATOR, bot.id, input))).toBe('conflict')
    expect(await codeOf(service.chat.bots.create(OPERATOR, { username: 'x1', owner_id: bot.id }))).toBe(
      'validation_failed',
    )
    expect(await codeOf(service.chat.bots.create(OPERATOR, { username: 'x2' }))).toBe('validation_failed')
  })

  it('is not merged, but the bots of a merged user go along', async () => {
    const { owner, bot, client } = await make()
    const into = await service.signIn('merged-into')
    for (const pair of [
      { from: { user_id: bot.id }, into: { user_id: into.id } },
      { from: { user_id: owner.id }, into: { user_id: bot.id } },
    ])
      expect(await codeOf(service.chat.users.merge(OPERATOR, pair))).toBe('conflict')
    await service.chat.users.merge(OPERATOR, { from: { user_id: owner.id }, into: { user_id: into.id } })
    expect((await into.bots.list()).bots.map(({ id }) => id)).toEqual([bot.id])
    await client.auth.me()
  })

  it('joins no conversation by itself, and never succeeds an owner who is erased while a person is there', async () => {
    const { owner, client } = await make()
    const { conversation_id } = await client.conversations.create({})
    const member = await service.signIn('successor')
    await owner.participants.add(conversation_id, { user_id: member.id, role: 'viewer' })
    await service.chat.users.erase(OPERATOR, owner.id)
    expect(await member.conversations.get(conversation_id)).toMatchObject({
      participants: expect.arrayContaining([expect.objectContaining({ user_id: member.id, role: 'owner' })]),
    })
  })

  it('is online for a minute after it has asked for its events', async () => {
    const { owner, bot, client } = await make()
    const { conversation_id } = await owner.conversations.create({ title: 'Room' })
    await owner.participants.add(conversation_id, { user_id: bot.id })
    const status = async () => (await owner.presence.list({ user_ids: bot.id })).presence[0]!.status
    expect(await status()).toBe('offline')
    const { position } = await client.feed.read()
    await expect.poll(status).toBe('online')
    ahead += 61 * SECOND
    expect(await status()).toBe('offline')
    await client.feed.read({ after: position })
    await expect.poll(status).toBe('online')
  })

  it('opens streams by a ticket, which ends with its key', async () => {
    const { owner, bot, client } = await make()
    expect(await codeOf(client.tokens.issue({}))).toBe('forbidden')
    const { token } = await client.tokens.issue({ scopes: ['stream'] })
    const open = () => fetch(`${service.base_url}/api/stream?ticket=${token}`)
    const response = await open()
    expect(response.status).toBe(200)
    await response.body!.cancel()
    const { id } = (await owner.bots.listKeys(bot.id)).keys[0]!
    await owner.bots.revokeKey(bot.id, id)
    expect((await open()).status).toBe(401)
  })
})
