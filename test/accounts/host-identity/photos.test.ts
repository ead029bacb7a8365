import { expect, it } from 'vitest'
import { type Identity, OPERATOR, type SystemProfile } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { nextOfType } from '../../live/readers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, times } from '../../support/service.ts'

const PHOTO = 'https://example.org/photos/grace.jpg'

/** Texts that are no address of a photo. */
const INVALID = [
  'http://example.org/a.jpg',
  'javascript:alert(1)',
  'data:image/png;base64,AAAA',
  '//example.org/a.jpg',
  '/a.jpg',
  'https://',
  'https://user:secret@example.org/a.jpg',
  `https://example.org/${'x'.repeat(2048)}`,
  // Each of these letters takes six characters in a URL.
  `https://example.org/${'é'.repeat(1000)}`,
  5 as unknown as string,
]

describeOnEachDatabase('photos that the host has of its people', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl(), { ports: { identity } }))
  const people = new Map<string, Identity>()
  const identity = ({ headers }: { headers: Headers }) => people.get(headers.get('x-host-user') ?? '')

  const called = (name: string) => service.chat.auth.authenticate(new Headers({ 'x-host-user': name }))
  const stored = (id: string) =>
    innerState(service).db.get(sql`SELECT avatar_url, display_name FROM users WHERE id = ${id}`)

  it('are in a person, participants, the other one of a direct conversation, and me', async () => {
    const { users, conversations, participants, auth } = service.chat
    const { user } = await users.ensure(OPERATOR, { subject: 'grace', username: 'grace', avatar_url: PHOTO })
    expect(user.avatar_url).toBe(PHOTO)
    await users.ensure(OPERATOR, { subject: 'ada', username: 'ada' })
    const [ada, grace] = [await users.actorOf('ada'), await users.actorOf('grace')]
    const { conversation_id } = await conversations.create(ada, { title: 'Engines' })
    const added = await participants.add(ada, conversation_id, { subject: 'grace' })
    expect(added).toMatchObject({ participant: { username: 'grace', avatar_url: PHOTO } })
    const changed = await participants.changeRole(ada, conversation_id, grace.user_id, { role: 'admin' })
    expect(changed.participant).toMatchObject({ role: 'admin', avatar_url: PHOTO })
    const list = (await participants.list(ada, conversation_id)).participants
    expect(list.map(({ username, avatar_url }) => [username, avatar_url])).toEqual([
      ['ada', undefined],
      ['grace', PHOTO],
    ])
    expect((await users.get(ada, grace.user_id)).user).toMatchObject({ username: 'grace', avatar_url: PHOTO })
    expect((await users.get(grace, ada.user_id)).user).not.toHaveProperty('avatar_url')
    expect((await users.search(ada, { query: 'grace' })).users).toMatchObject([{ avatar_url: PHOTO }])
    await conversations.direct(ada, { subject: 'grace' })
    const summaries = (await conversations.list(ada)).conversations
    expect(summaries.find(({ direct }) => direct)!.with).toMatchObject({ username: 'grace', avatar_url: PHOTO })
    expect((await auth.me(grace)).user).toMatchObject({ username: 'grace', avatar_url: PHOTO })
    await auth.changeProfile(grace, { display_name: 'Grace' })
    await users.change(OPERATOR, grace.user_id, { display_name: 'Grace H' })
    expect(await stored(grace.user_id)).toEqual({ avatar_url: PHOTO, display_name: 'Grace H' })
  })

  it('are stored as a browser would request them, kept where they are missing, and removed by an empty text', async () => {
    const { users } = service.chat
    const ensure = async (avatar_url?: string) =>
      (await users.ensure(OPERATOR, { subject: 'kept', ...(avatar_url !== undefined && { avatar_url }) })).user
        .avatar_url
    expect(await ensure('https://EXAMPLE.org/a "b".jpg')).toBe('https://example.org/a%20%22b%22.jpg')
    expect(await ensure()).toBe('https://example.org/a%20%22b%22.jpg')
    people.set('kept', { subject: 'kept' })
    const { user_id } = await called('kept')
    expect(await stored(user_id)).toMatchObject({ avatar_url: 'https://example.org/a%20%22b%22.jpg' })
    people.set('kept', { subject: 'kept', avatar_url: PHOTO })
    await called('kept')
    expect(await stored(user_id)).toMatchObject({ avatar_url: PHOTO })
    people.set('kept', { subject: 'kept', avatar_url: '' })
    await called('kept')
    expect(await stored(user_id)).toMatchObject({ avatar_url: null })
    expect(await ensure(`https://example.org/${'x'.repeat(2048 - 20)}`)).toHaveLength(2048)
    expect(await ensure('')).toBeUndefined()
  })

  it.each(INVALID)(
    'a text that is no address is ignored by identity, and refused elsewhere with its field',
    async (avatar_url) => {
      const { users } = service.chat
      people.set('odd', { subject: 'odd', username: 'odd', avatar_url: PHOTO })
      const { user_id } = await called('odd')
      people.set('odd', { subject: 'odd', display_name: 'Odd', avatar_url })
      await called('odd')
      expect(await stored(user_id)).toEqual({ avatar_url: PHOTO, display_name: 'Odd' })
      for (const call of [
        () => users.ensure(OPERATOR, { subject: 'odd', avatar_url }),
        () => service.chat.system('odd', { avatar_url }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'validation_failed', errors: [{ path: 'avatar_url' }] })
    },
  )

  it('are sent to readers of a conversation of the user', async () => {
    const { users, conversations, participants } = service.chat
    await users.ensure(OPERATOR, { subject: 'reader', username: 'reader' })
    const { user } = await users.ensure(OPERATOR, { subject: 'shown', username: 'shown' })
    const reader = await users.actorOf('reader')
    const { conversation_id } = await conversations.create(reader, { title: 'Engines' })
    await participants.add(reader, conversation_id, { subject: 'shown' })
    const events = service.chat.events.follow(reader, conversation_id)
    expect((await events.next()).value!.event.type).toBe('stream.ready')
    await users.ensure(OPERATOR, { subject: 'shown', avatar_url: PHOTO })
    expect(await nextOfType(events, 'user.updated')).toMatchObject({
      payload: { user: { id: user.id, avatar_url: PHOTO } },
    })
    await events.return?.(undefined)
  })

  it('a system actor has a name and a photo, stored where they differ, each kept when it is missing', async () => {
    const { chat } = service
    const orders = await chat.system('orders', { display_name: 'Orders', avatar_url: PHOTO })
    expect(await stored(orders.user_id)).toEqual({ display_name: 'Orders', avatar_url: PHOTO })
    const changes = () => innerState(service).db.all(sql`SELECT id FROM audit_log WHERE subject_id = ${orders.user_id}`)
    const before = await changes()
    await Promise.all(
      times(10, (i) => [service, node][i % 2]!.chat.system('orders', { display_name: 'Orders', avatar_url: PHOTO })),
    )
    expect(await chat.system('orders')).toEqual(orders)
    expect(await changes()).toEqual(before)
    await Promise.all([
      service.chat.system('orders', { display_name: 'Bestellungen' }),
      node.chat.system('orders', { avatar_url: 'https://example.org/orders.png' }),
    ])
    expect(await stored(orders.user_id)).toEqual({
      display_name: 'Bestellungen',
      avatar_url: 'https://example.org/orders.png',
    })
    await chat.system('orders', { display_name: '', avatar_url: '' })
    expect(await stored(orders.user_id)).toEqual({ display_name: 'orders', avatar_url: null })
    const { user } = await chat.users.get(orders, orders.user_id)
    expect(user).toMatchObject({ display_name: 'orders', kind: 'system' })
  })

  it('a misspelt field of a system actor is refused, and a disabled one is not changed', async () => {
    const { chat } = service
    const misspelt = { avatar: PHOTO } as SystemProfile
    await expect(chat.system('stock', misspelt)).rejects.toThrow('chat.system has no "avatar"')
    const { user_id } = await chat.system('stock')
    await chat.users.change(OPERATOR, user_id, { disabled: true })
    expect(await codeOf(chat.system('stock', { avatar_url: PHOTO }))).toBe('account_disabled')
    expect(await stored(user_id)).toMatchObject({ avatar_url: null })
  })

  it('are gone with an erased user', async () => {
    const { users } = service.chat
    const { user } = await users.ensure(OPERATOR, { subject: 'gone', avatar_url: PHOTO })
    await users.erase(OPERATOR, user.id)
    expect(await stored(user.id)).toBeUndefined()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
