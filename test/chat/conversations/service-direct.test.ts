import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('a direct conversation', (openUrl) => {
  let url: string
  const [service, node] = setUpNodes(async () => {
    url = await openUrl()
    return [await startService(url), await startService(url)]
  })
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    await acquaint(ada, grace)
  })

  async function acquaint(one: Person, other: Person): Promise<void> {
    const { conversation_id } = await one.conversations.create({ title: 'Common' })
    await one.participants.add(conversation_id, { user_id: other.id })
  }

  it('exists once for two people, however many open it at once, by both, on two nodes', async () => {
    const [one, two] = [await service.signIn('one'), await service.signIn('two')]
    await acquaint(one, two)
    const [oneActor, twoActor] = await Promise.all([one, two].map(({ id }) => service.chat.users.actor(id)))
    const opened = await Promise.all(
      times(100, (n) => {
        const { chat } = n % 2 ? service : node
        return n % 4 < 2
          ? chat.conversations.direct(oneActor!, { user_id: two.id })
          : chat.conversations.direct(twoActor!, { username: 'one' })
      }),
    )
    expect(new Set(opened.map(({ conversation_id }) => conversation_id)).size).toBe(1)
    expect(opened.filter(({ created }) => created)).toHaveLength(1)
    const { conversation } = opened[0]!
    expect(conversation).toMatchObject({ direct: true, is_group: false, title: '', participant_count: 2 })
    expect(conversation.participants.map(({ role }) => role)).toEqual(['owner', 'owner'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('names the other person in lists, and has its own defaults', async () => {
    const { conversation_id: id } = await ada.conversations.direct({ user_id: grace.id })
    expect((await ada.conversations.list({ limit: 1 })).conversations).toMatchObject([
      { id, direct: true, level: 'all', with: { user_id: grace.id, username: 'grace' }, policy: { receipts: 'on' } },
    ])
    expect(await grace.conversations.get(id)).toMatchObject({ with: { user_id: ada.id, username: 'ada' } })
    const common = (await ada.conversations.list({})).conversations.find(({ title }) => title === 'Common')!
    expect(common).toMatchObject({ level: 'mentions', policy: { mention_all: 'admins', receipts: 'off' } })
    expect(common).not.toHaveProperty('direct')
    expect(common).not.toHaveProperty('with')
  })

  it('may be with oneself', async () => {
    const { conversation_id: id, conversation } = await ada.conversations.direct({ username: 'ada' })
    expect(conversation).toMatchObject({ direct: true, participant_count: 1, with: { user_id: ada.id } })
    expect(await ada.conversations.direct({ user_id: ada.id })).toMatchObject({ conversation_id: id, created: false })
    await ada.messages.postRoot(id, { content: 'Buy milk' })
    expect((await ada.conversations.list({ limit: 1 })).conversations).toMatchObject([
      { id, with: { user_id: ada.id } },
    ])
  })

  it('stays what it is: no participant is added or removed, no role, title or invite, and it is not deleted', async () => {
    const { conversation_id: id } = await ada.conversations.direct({ user_id: grace.id })
    const eve = await service.signIn('eve')
    for (const change of [
      () => ada.participants.add(id, { user_id: eve.id }),
      () => ada.participants.add(id, { email: 'new@example.org' }),
      () => ada.participants.remove(id, grace.id),
      () => ada.participants.remove(id, ada.id),
      () => ada.participants.changeRole(id, grace.id, { role: 'viewer' }),
      () => ada.invites.create(id, {}),
      () => service.chat.invites.create(OPERATOR, id, {}),
      () => ada.conversations.rename(id, { title: 'Us' }),
      () => ada.conversations.remove(id),
    ])
      expect(await codeOf(change()), change.toString()).toBe('conflict')
    expect(await codeOf(eve.conversations.get(id))).toBe('not_found')
    expect(await grace.conversations.rename(id, { policy: { receipts: 'off' } })).toMatchObject({
      policy: { receipts: 'off', mention_all: 'admins' },
    })
    await ada.conversations.rename(id, { policy: { receipts: 'on' } })
  })

  it('is the same after one of them wanted to leave, or has archived it', async () => {
    const { conversation_id: id } = await ada.conversations.direct({ user_id: grace.id })
    expect(await codeOf(grace.participants.remove(id, grace.id))).toBe('conflict')
    await grace.conversations.setSettings(id, { archived: true })
    for (const opened of [
      await ada.conversations.direct({ username: 'grace' }),
      await grace.conversations.direct({ user_id: ada.id }),
    ])
      expect(opened).toMatchObject({ conversation_id: id, created: false, conversation: { participant_count: 2 } })
  })

  it('is another one with a new person who has the name of an erased one', async () => {
    const [one, two] = [await service.signIn('five'), await service.signIn('six')]
    await acquaint(one, two)
    const { conversation_id: former } = await one.conversations.direct({ username: 'six' })
    await two.messages.postRoot(former, { content: 'Hi' })
    await service.chat.users.erase(OPERATOR, two.id, {})
    expect(await codeOf(one.conversations.direct({ username: 'six' }))).toBe('not_found')
    const again = await service.signIn('six')
    await acquaint(one, again)
    const [mine, theirs] = await Promise.all([
      one.conversations.direct({ username: 'six' }),
      again.conversations.direct({ user_id: one.id }),
    ])
    expect(mine.conversation_id).not.toBe(former)
    expect(theirs.conversation_id).toBe(mine.conversation_id)
    const { conversations } = await one.conversations.list()
    const direct = conversations.filter((each) => each.direct)
    expect(new Map(direct.map((each) => [each.id, each.with?.user_id]))).toEqual(
      new Map([
        [former, undefined],
        [mine.conversation_id, again.id],
      ]),
    )
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('comes back from the archive when it is opened again', async () => {
    const { conversation_id: id } = await ada.conversations.direct({ user_id: grace.id })
    await ada.conversations.setSettings(id, { archived: true })
    await grace.conversations.setSettings(id, { archived: true })
    const opened = await ada.conversations.direct({ username: 'grace' })
    expect(opened).toMatchObject({ conversation_id: id, created: false })
    expect(opened.conversation).not.toHaveProperty('archived')
    expect(await grace.conversations.settings(id)).toMatchObject({ archived: true })
  })

  it('is opened with users of a common conversation, or with everyone, or not at all', async () => {
    const stranger = await service.signIn('stranger')
    const reader = await service.signIn('reader', ['read_only'])
    expect(await codeOf(stranger.conversations.direct({ username: 'ada' }))).toBe('forbidden')
    expect(await codeOf(reader.conversations.direct({ username: 'ada' }))).toBe('forbidden')
    expect(await codeOf(service.chat.conversations.direct(OPERATOR, { user_id: ada.id }))).toBe('forbidden')
    const system = await service.chat.system('orders')
    expect((await service.chat.conversations.direct(system, { user_id: ada.id })).created).toBe(true)
    expect(await codeOf(ada.conversations.direct({ username: 'nobody' }))).toBe('not_found')
    expect(await codeOf(ada.conversations.direct({ user_id: system.user_id }))).toBe('not_found')
    expect(await codeOf(ada.conversations.direct({} as never))).toBe('validation_failed')
    const both = { user_id: grace.id, username: 'grace' } as never
    expect(await codeOf(ada.conversations.direct(both))).toBe('validation_failed')

    const config = { direct: { who: 'everyone' } }
    const open = await startService(url, { config, ports: { hooks: { beforeJoin: refuseGrace } } })
    const actor = await open.chat.users.actor(stranger.id)
    expect((await open.chat.conversations.direct(actor, { user_id: ada.id })).created).toBe(true)
    expect(await codeOf(open.chat.conversations.direct(actor, { user_id: grace.id }))).toBe('forbidden')
    await open.close()
    const shut = await startService(url, { config: { direct: { enabled: false } } })
    expect(await codeOf(shut.chat.conversations.direct(actor, { user_id: ada.id }))).toBe('not_found')
    await shut.close()
  })
  const refuseGrace = ({ user_id }: { user_id?: string }) =>
    user_id === grace.id ? { refuse: 'Grace wants no mail.' } : undefined

  it('can be read, and is closed for new messages, while the other person is disabled, and once erased', async () => {
    const [one, two] = [await service.signIn('three'), await service.signIn('four')]
    await acquaint(one, two)
    const { conversation_id: id } = await one.conversations.direct({ user_id: two.id })
    const { root_id, message_id } = await two.messages.postRoot(id, { content: 'Hi' })
    const own = await one.messages.reply(message_id, { content: 'Hello' })
    await service.chat.users.change(OPERATOR, two.id, { disabled: true })
    const post = () => codeOf(one.messages.postRoot(id, { content: 'Are you there?' }))
    expect(await post()).toBe('conflict')
    expect(await codeOf(one.messages.reply(message_id, { content: 'Hello?' }))).toBe('conflict')
    expect(await codeOf(one.messages.edit(own.message_id, { content: 'Are you there?' }))).toBe('conflict')
    expect(await codeOf(one.reactions.add(message_id, '👍'))).toBe('conflict')
    expect(await codeOf(one.pins.add(message_id))).toBe('conflict')
    expect(await codeOf(one.conversations.direct({ user_id: two.id }))).toBe('not_found')
    expect((await one.threads.tree(root_id, {})).messages).toHaveLength(2)
    await service.chat.users.change(OPERATOR, two.id, { disabled: false })
    await one.messages.reply(message_id, { content: 'Welcome back' })

    await service.chat.users.erase(OPERATOR, two.id, {})
    expect(await post()).toBe('conflict')
    const conversation = await one.conversations.get(id)
    expect(conversation).toMatchObject({ direct: true, participant_count: 1 })
    expect(conversation).not.toHaveProperty('with')
    expect(await codeOf(one.participants.remove(id, one.id))).toBe('conflict')
    const row = await innerState(service).db.get(sql`SELECT pair_key FROM conversations WHERE id = ${id}`)
    expect(row).toEqual({ pair_key: null })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    // The last one takes it along.
    await service.chat.users.erase(OPERATOR, one.id, {})
    await expect.poll(() => codeOf(service.chat.conversations.describe(OPERATOR, id))).toBe('not_found')
  })
})
