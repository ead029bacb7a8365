import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Actor, OPERATOR } from '../../../lib/index.ts'
import { nextOfType } from '../../live/readers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, type Person, startService, type TestService, times } from '../../support/service.ts'

describeOnEachDatabase('a part of the host that acts', (openUrl) => {
  let service: TestService
  let node: TestService
  let ada: Person
  let grace: Person
  let orders: Actor
  beforeAll(async () => {
    const url = await openUrl()
    service = await startService(url)
    node = await startService(url)
    orders = await service.chat.system('orders')
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })
  afterAll(async () => {
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await Promise.all([service.close(), node.close()])
  })

  it('is the same at every call, on every node, and needs no set-up', async () => {
    const found = await Promise.all(times(20, (i) => [service, node][i % 2]!.chat.system('stock')))
    expect(new Set(found.map((actor) => actor.user_id)).size).toBe(1)
    expect(await service.chat.system('orders')).toEqual(orders)
    expect(orders).toEqual({ user_id: expect.any(String), roles: ['member'], system: 'orders' })
    for (const name of ['', 'Orders', 'a b', 'x'.repeat(41), 5 as unknown as string])
      expect(await codeOf(service.chat.system(name))).toBe('validation_failed')
  })

  it('creates conversations without being in them, adds people, and posts as the system', async () => {
    const { conversations, participants, messages } = service.chat
    const { conversation_id, conversation } = await conversations.ensure(orders, { ref: 'order-1', title: 'Order 1' })
    expect(conversation.participants).toEqual([])
    expect((await conversations.ensure(orders, { ref: 'order-1' })).conversation_id).toBe(conversation_id)
    await participants.add(orders, conversation_id, { user_id: ada.id })
    const posted = await messages.postRoot(orders, conversation_id, {
      content: 'Order 1 paid',
      metadata: { paid: true },
    })
    expect(posted.message).toMatchObject({ role: 'system', author_user_id: orders.user_id, content: 'Order 1 paid' })
    await messages.reply(orders, posted.message_id, { content: 'Shipped', idempotency_key: 'shipped' })
    const again = await messages.reply(orders, posted.message_id, { content: 'Shipped', idempotency_key: 'shipped' })
    expect(again.idempotency_replayed).toBe('true')
    const { messages: tree } = await ada.threads.tree(posted.root_id)
    expect(tree.map((message) => [message.role, message.author_user_id])).toEqual([
      ['system', orders.user_id],
      ['system', orders.user_id],
    ])
    const [summary] = (await ada.threads.list(conversation_id)).threads
    expect(summary).toMatchObject({ root_author: orders.user_id, unread: 2 })
    expect(await codeOf(ada.messages.edit(posted.message_id, { content: 'mine' }))).toBe('forbidden')
    await messages.edit(orders, posted.message_id, { content: 'Order 1 is paid' })
    await messages.remove(orders, again.message_id)
    expect((await ada.conversations.list()).conversations).toMatchObject([{ id: conversation_id, unread: 1 }])
  })

  it('acts in the conversations of people too, with the rights of an owner', async () => {
    const { conversation_id } = await grace.conversations.create({ title: 'Private' })
    const posted = await service.chat.messages.postRoot(orders, conversation_id, { content: 'Maintenance tonight' })
    expect((await grace.messages.get(posted.message_id)).role).toBe('system')
    expect(await service.chat.conversations.rename(orders, conversation_id, { title: 'Renamed' })).toMatchObject({
      title: 'Renamed',
    })
    const { token = '' } = await service.chat.invites.create(orders, conversation_id, {})
    await ada.invites.accept({ token })
    const { participants } = await grace.conversations.get(conversation_id)
    expect(participants.map((each) => each.username).sort()).toEqual(['ada', 'grace'])
    expect(await codeOf(service.chat.messages.postRoot(orders, orders.user_id, { content: 'x' }))).toBe('not_found')
  })

  it('is no participant, and no person', async () => {
    const { users, conversations, participants, presence, invites, keys, threads } = service.chat
    expect((await users.search({ user_id: ada.id, roles: ['member'] }, { query: 'orders' })).users).toEqual([])
    expect(await codeOf(users.actor(orders.user_id))).toBe('not_found')
    const { conversation_id } = await grace.conversations.create()
    expect(await codeOf(grace.participants.add(conversation_id, { user_id: orders.user_id }))).toBe('not_found')
    expect(await codeOf(presence.sendHeartbeat(orders))).toBe('forbidden')
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'hello' })
    expect(await codeOf(threads.unread(orders, conversation_id))).toBe('forbidden')
    expect(await codeOf(threads.markRead(orders, root_id, {}))).toBe('forbidden')
    expect(await codeOf(conversations.markRead(orders, conversation_id, {}))).toBe('forbidden')
    expect(await codeOf(conversations.markUnread(orders, conversation_id, { message_id: root_id }))).toBe('forbidden')
    expect(await codeOf(threads.listFollowed(orders))).toBe('forbidden')
    expect(await codeOf(threads.follow(orders, root_id))).toBe('forbidden')
    expect(await codeOf(threads.unfollow(orders, root_id))).toBe('forbidden')
    const [listed] = (await threads.list(orders, conversation_id)).threads
    expect(listed).not.toHaveProperty('unread')
    expect(await codeOf(keys.create(orders, { name: 'bot' }))).toBe('forbidden')
    const { token = '' } = await grace.invites.create(conversation_id, {})
    expect(await codeOf(invites.accept(orders, {}, { token }))).toBe('forbidden')
    expect((await conversations.get(orders, conversation_id)).participant_count).toBe(1)
    expect((await participants.list(orders, conversation_id)).participants).toHaveLength(1)
    const { rows } = await innerState(service).ops.databaseLevels()
    const { users: all } = await users.list(OPERATOR)
    expect(rows!.users).toBe(all.filter((user) => user.email !== undefined).length)
  })

  it('types in any conversation', async () => {
    const { conversation_id } = await grace.conversations.create()
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'hello' })
    const stream = grace.events.follow(conversation_id)
    await stream.next()
    await service.chat.presence.setTyping(orders, { conversation_id, root_id })
    for await (const { event } of stream) {
      if (event.type !== 'typing.update') continue
      expect(event.payload).toMatchObject({ conversation_id, root_id, user_id: orders.user_id })
      break
    }
    const unknown = { conversation_id: orders.user_id }
    expect(await codeOf(service.chat.presence.setTyping(orders, unknown))).toBe('not_found')
  })

  it('follows every conversation, from the event that it has seen on, and one conversation', async () => {
    const follow = (last_event_id?: string) =>
      service.chat.events.followAll(orders, { ...(last_event_id && { last_event_id }) })
    const stream = follow()
    const ready = (await stream.next()).value!
    const { conversation_id } = await grace.conversations.create()
    await grace.messages.postRoot(conversation_id, { content: 'hello' })
    const adas = await ada.conversations.create()
    const types = []
    for await (const { event, conversation_id: where } of stream) {
      types.push([event.type, where])
      if (where === adas.conversation_id) break
    }
    const expected = [
      ['membership.changed', conversation_id],
      ['thread.new', conversation_id],
      ['message.new', conversation_id],
      ['membership.changed', adas.conversation_id],
    ]
    expect(types).toEqual(expected)
    const replayed = []
    for await (const { event, conversation_id: where } of follow(
      (ready.event.payload as { last_event_id: string }).last_event_id,
    )) {
      if (event.type !== 'stream.ready') replayed.push([event.type, where])
      if (replayed.length === expected.length) break
    }
    expect(replayed).toEqual(expected)
    const one = service.chat.events.follow(orders, conversation_id)
    expect((await one.next()).value!.event.type).toBe('stream.ready')
    await innerState(service).streams.hub.rights.recheckAll()
    await grace.messages.postRoot(conversation_id, { content: 'more' })
    expect(await nextOfType(one, 'thread.new')).toMatchObject({ payload: { conversation_id } })
    await one.return(undefined)
  })

  it('is stopped by disabling and by erasing it, also with an actor from before', async () => {
    const { users, conversations, messages, system } = service.chat
    const billing = await system('billing')
    const { conversation_id } = await conversations.create(billing, {})
    const root = await messages.postRoot(billing, conversation_id, { content: 'before' })
    const acts = async () => [
      await codeOf(messages.postRoot(billing, conversation_id, { content: 'after' })),
      await codeOf(messages.reply(billing, root.message_id, { content: 'after' })),
      await codeOf(conversations.rename(billing, conversation_id, { title: 'after' })),
      await codeOf(conversations.get(billing, conversation_id)),
      await codeOf(messages.get(billing, root.message_id)),
      await codeOf(conversations.create(billing, {})),
    ]
    const refused = [...times(5, () => 'not_found'), 'forbidden']
    await users.change(OPERATOR, billing.user_id, { disabled: true })
    expect(await codeOf(system('billing'))).toBe('account_disabled')
    expect(await acts()).toEqual(refused)
    await users.change(OPERATOR, billing.user_id, { disabled: false })
    expect(await system('billing')).toEqual(billing)
    await messages.postRoot(billing, conversation_id, { content: 'again' })
    await users.erase(OPERATOR, billing.user_id)
    expect(await acts()).toEqual(refused)
    expect((await system('billing')).user_id).not.toBe(billing.user_id)
  })

  it('gets no sign-in, no roles and no address', async () => {
    const { change } = service.chat.users
    const changes = [
      { password: 'a long enough passphrase' },
      { roles: ['admin' as const] },
      { email: 'x@example.com' },
      { email_verified: true },
    ]
    for (const each of changes) expect(await codeOf(change(OPERATOR, orders.user_id, each))).toBe('forbidden')
    const { user } = await change(OPERATOR, orders.user_id, { display_name: 'Orders' })
    expect(user).toMatchObject({ display_name: 'Orders', roles: ['member'], email_verified: false })
  })

  it('keeps its conversations when the last participant is erased', async () => {
    const { conversations, participants, users } = service.chat
    const { conversation_id } = await conversations.create(orders, { ref: 'order-9' })
    const linus = await service.signIn('linus')
    await participants.add(orders, conversation_id, { user_id: linus.id, role: 'owner' })
    await users.erase(OPERATOR, linus.id)
    expect(await conversations.get(orders, conversation_id)).toMatchObject({ ref: 'order-9', participants: [] })
  })
})
