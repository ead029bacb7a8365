import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Actor, type JoinBefore, type JoinVerdict, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, type Person, startService, type TestService, times } from '../../support/service.ts'

describeOnEachDatabase('a direct conversation of a system actor', (openUrl) => {
  let service: TestService
  let node: TestService
  let admin: Person
  let ada: Person
  let grace: Person
  let orders: Actor
  let joins: JoinBefore[] = []
  let verdict: JoinVerdict
  beforeAll(async () => {
    const url = await openUrl()
    const beforeJoin = (join: JoinBefore) => {
      joins.push(join)
      return verdict
    }
    // People open none with each other.
    const config = { direct: { enabled: false } }
    service = await startService(url, { config, ports: { hooks: { beforeJoin } } })
    node = await startService(url, { config })
    admin = await service.signIn('admin')
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    orders = await service.chat.system('orders')
  })
  afterAll(async () => {
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await Promise.all([service.close(), node.close()])
  })

  const open = (person: Person, actor = orders) => service.chat.conversations.direct(actor, { user_id: person.id })

  it('exists once, however many calls open it at once, on two nodes, and has one participant', async () => {
    expect(await codeOf(grace.conversations.direct({ user_id: ada.id }))).toBe('not_found')
    const opened = await Promise.all(
      times(60, (n) =>
        (n % 2 ? service : node).chat.conversations.direct(
          orders,
          n % 4 < 2 ? { user_id: ada.id } : { username: 'ada' },
        ),
      ),
    )
    expect(new Set(opened.map(({ conversation_id }) => conversation_id)).size).toBe(1)
    expect(opened.filter(({ created }) => created)).toHaveLength(1)
    const [{ conversation_id: id, conversation }] = opened as [(typeof opened)[0]]
    expect(conversation).toMatchObject({
      direct: true,
      is_group: false,
      participant_count: 1,
      participants: [{ user_id: ada.id, role: 'owner' }],
      with: { user_id: ada.id, username: 'ada' },
    })
    const seen = { user_id: orders.user_id, display_name: 'orders' }
    expect(await ada.conversations.get(id)).toMatchObject({ direct: true, with: seen, participant_count: 1 })
    expect((await ada.conversations.list({})).conversations).toMatchObject([{ id, with: seen, level: 'all' }])
    const other = await service.chat.system('stock')
    expect(await service.chat.conversations.get(other, id)).not.toHaveProperty('with')
    expect((await open(ada, other)).conversation_id).not.toBe(id)
  })

  it('is answered and archived by its participant, who is notified of what is posted', async () => {
    const { conversation_id: id } = await open(grace)
    const { message_id } = await service.chat.messages.postRoot(orders, id, { content: 'Order 42 paid' })
    expect((await grace.notifications.list()).notifications).toMatchObject([
      { kind: 'direct', conversation_id: id, message_id, actor_user_id: orders.user_id, excerpt: 'Order 42 paid' },
    ])
    expect((await grace.conversations.list({})).conversations).toMatchObject([{ id, unread: 1 }])
    await grace.messages.reply(message_id, { content: 'Thanks' })
    await grace.conversations.setSettings(id, { archived: true })
    expect((await grace.conversations.list({})).conversations).toEqual([])
    expect((await open(grace)).created).toBe(false)
    await service.chat.messages.reply(orders, message_id, { content: 'Shipped' })
    expect((await grace.conversations.list({})).conversations).toMatchObject([{ id }])
    for (const change of [
      () => grace.participants.add(id, { user_id: ada.id }),
      () => grace.participants.remove(id, grace.id),
      () => grace.conversations.remove(id),
      () => service.chat.participants.add(orders, id, { user_id: ada.id }),
      () => service.chat.conversations.rename(orders, id, { title: 'Orders' }),
    ])
      expect(await codeOf(change())).toBe('conflict')
    expect(await codeOf(ada.conversations.get(id))).toBe('not_found')
    expect(await codeOf(ada.messages.reply(message_id, { content: 'x' }))).toBe('not_found')
  })

  it('is opened only with people: by no user with a system actor, and not with a disabled user', async () => {
    const stock = await service.chat.system('stock')
    for (const partner of [{ user_id: stock.user_id }, { user_id: orders.user_id }, { username: 'nobody' }])
      expect(await codeOf(service.chat.conversations.direct(orders, partner))).toBe('not_found')
    expect(await codeOf(service.chat.conversations.direct(OPERATOR, { user_id: ada.id }))).toBe('forbidden')
    const eve = await service.signIn('eve')
    const { conversation_id } = await open(eve)
    await admin.users.change(eve.id, { disabled: true })
    expect(await codeOf(service.chat.messages.postRoot(orders, conversation_id, { content: 'x' }))).toBe('conflict')
    const frank = await service.signIn('frank')
    await admin.users.change(frank.id, { disabled: true })
    expect(await codeOf(open(frank))).toBe('not_found')
  })

  it('asks the hook, which may refuse', async () => {
    const heidi = await service.signIn('heidi')
    joins = []
    verdict = { refuse: 'Not this one.' }
    expect(await codeOf(open(heidi))).toBe('forbidden')
    expect(joins).toMatchObject([{ user_id: heidi.id, role: 'owner', direct: true, actor: { system: 'orders' } }])
    verdict = undefined
    expect((await open(heidi)).created).toBe(true)
  })

  it('stays without its participant, who was erased', async () => {
    const ivan = await service.signIn('ivan')
    const { conversation_id } = await open(ivan)
    await service.chat.users.erase(OPERATOR, ivan.id)
    const conversation = await service.chat.conversations.get(orders, conversation_id)
    expect(conversation).toMatchObject({ direct: true, participants: [] })
    expect(conversation).not.toHaveProperty('with')
    expect(await codeOf(service.chat.messages.postRoot(orders, conversation_id, { content: 'x' }))).toBe('conflict')
  })

  it('is closed once its system actor is disabled, or erased: then another one can be opened', async () => {
    const billing = await service.chat.system('billing')
    const { conversation_id } = await open(grace, billing)
    const post = () => codeOf(grace.messages.postRoot(conversation_id, { content: 'x' }))
    await service.chat.users.change(OPERATOR, billing.user_id, { disabled: true })
    expect(await post()).toBe('conflict')
    expect(await codeOf(open(ada, billing))).toBe('not_found')
    await service.chat.users.change(OPERATOR, billing.user_id, { disabled: false })
    await grace.messages.postRoot(conversation_id, { content: 'x' })
    await service.chat.users.erase(OPERATOR, billing.user_id)
    expect(await post()).toBe('conflict')
    expect(await grace.conversations.get(conversation_id)).not.toHaveProperty('with')
    const again = await open(grace, await service.chat.system('billing'))
    expect(again).toMatchObject({ created: true })
    expect(again.conversation_id).not.toBe(conversation_id)
  })
})
