import { beforeAll, beforeEach, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, type Person } from '../../support/service.ts'

describeService('the mentions of an edited message', (service) => {
  let ada: Person
  let grace: Person
  let bob: Person
  let conversation_id: string
  /** Each test has names of its own: other tests rename users. */
  let round = 0

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    bob = await service.signIn('bob')
  })

  beforeEach(async () => {
    round++
    await Promise.all([rename(ada, 'ada'), rename(grace, 'grace'), rename(bob, 'bob')])
    conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    for (const user of [grace, bob]) await ada.participants.add(conversation_id, { user_id: user.id })
  })

  const named = (name: string) => `${name}-${round}`
  const rename = (user: Person, name: string) => service.chat.users.change(OPERATOR, user.id, { username: named(name) })

  const post = async (content: string, mentions?: object) =>
    (await ada.messages.postRoot(conversation_id, { content, ...(mentions && { mentions }) })).message_id

  async function edit(id: string, content: string, mentions?: object) {
    await ada.messages.edit(id, { content, ...(mentions && { mentions }) })
    return (await ada.messages.get(id)).mentions
  }

  const inbox = async (user: Person, message_id: string) => {
    const { notifications } = await user.notifications.list()
    return notifications.filter((each) => each.message_id === message_id).map(({ kind }) => kind)
  }

  it('are those of its names after a rename, also when another user has the name', async () => {
    const id = await post(`@${named('grace')} plese`)
    await rename(grace, 'hopper')
    await rename(bob, 'grace')
    expect(await edit(id, `@${named('grace')} please`)).toEqual({ user_ids: [grace.id] })
    expect(await edit(id, `@${named('grace')} please, again`)).toEqual({ user_ids: [grace.id] })
    expect(await inbox(grace, id)).toEqual(['mention'])
    expect(await inbox(bob, id)).toEqual([])
    expect(await edit(id, 'nothing')).toBeUndefined()
    expect(await inbox(grace, id)).toEqual([])
    // The name is a new one then.
    expect(await edit(id, `@${named('grace')} please`)).toEqual({ user_ids: [bob.id] })
  })

  it('are those of its names after a user has left', async () => {
    const id = await post(`@${named('grace')} and @${named('bob')}`)
    await ada.participants.remove(conversation_id, grace.id)
    const both = { user_ids: [bob.id, grace.id].sort() }
    expect(await edit(id, `@${named('grace')} and @${named('bob')}!`)).toEqual(both)
    expect(await edit(id, `@${named('grace')}`)).toEqual({ user_ids: [grace.id] })
  })

  it('include all after the author has lost the right to name all', async () => {
    const id = await post('@all, luch')
    expect(await inbox(grace, id)).toEqual(['mention_all'])
    await ada.conversations.rename(conversation_id, { policy: { mention_all: 'nobody' } })
    expect(await edit(id, '@all, lunch')).toEqual({ user_ids: [], all: true })
    expect(await inbox(grace, id)).toEqual(['mention_all'])
    expect(await edit(id, 'lunch')).toBeUndefined()
    expect(await edit(id, '@all, lunch')).toBeUndefined()
  })

  it('are none where the name was text', async () => {
    await ada.participants.remove(conversation_id, bob.id)
    await ada.conversations.rename(conversation_id, { policy: { mention_all: 'nobody' } })
    const id = await post(`@${named('bob')} and @all, plese`)
    await ada.participants.add(conversation_id, { user_id: bob.id })
    await ada.conversations.rename(conversation_id, { policy: { mention_all: 'admins' } })
    expect(await edit(id, `@${named('bob')} and @all, please`)).toBeUndefined()
    expect(await inbox(bob, id)).toEqual([])
    expect(await edit(id, `@${named('bob')} and @all, please, @${named('grace')}`)).toEqual({ user_ids: [grace.id] })
  })

  it('stay those of the shorter name when a user gets the longer one', async () => {
    const id = await post(`@${named('grace')} hopper plese`)
    await service.chat.users.change(OPERATOR, bob.id, { username: `${named('grace')} hopper` })
    expect(await edit(id, `@${named('grace')} hopper please`)).toEqual({ user_ids: [grace.id] })
  })

  it('are looked up for a name that was only a part of another one, or in code, or quoted', async () => {
    await service.chat.users.change(OPERATOR, bob.id, { username: `${named('grace')} hopper` })
    const id = await post(`@${named('grace')} hopper \`@${named('ada')}\`\n> @${named('grace')}`)
    expect((await ada.messages.get(id)).mentions).toEqual({ user_ids: [bob.id] })
    const both = { user_ids: [bob.id, grace.id].sort() }
    expect(await edit(id, `@${named('grace')} hopper, @${named('grace')}`)).toEqual(both)
  })

  it('stay where the post named users by id, and new names are added', async () => {
    const id = await post(`Hi @${named('bob')}`, { user_ids: [grace.id] })
    await ada.participants.remove(conversation_id, grace.id)
    expect(await edit(id, `Hello @${named('bob')}`)).toEqual({ user_ids: [grace.id] })
    expect(await edit(id, 'Hello')).toEqual({ user_ids: [grace.id] })
    expect(await edit(id, `Hello @${named('bob')}`)).toEqual({ user_ids: [bob.id, grace.id].sort() })
    expect(await edit(id, 'Hello')).toEqual({ user_ids: [grace.id] })
    expect(await edit(id, 'Hello', {})).toBeUndefined()
    expect(await edit(id, 'Hello!')).toBeUndefined()
  })

  it('stay where the post named all, or no user', async () => {
    const all = await post('lunch', { all: true })
    expect(await edit(all, 'lunch!')).toEqual({ user_ids: [], all: true })
    const none = await post(`not @${named('bob')} nor @all`, {})
    expect(await edit(none, `not @${named('bob')} nor @all!`)).toBeUndefined()
  })

  it('are those of an edit that names users by id, until another edit does', async () => {
    const id = await post(`@${named('grace')}`)
    expect(await edit(id, `@${named('grace')}`, { user_ids: [bob.id] })).toEqual({ user_ids: [bob.id] })
    expect(await edit(id, `@${named('grace')}!`)).toEqual({ user_ids: [bob.id] })
    expect(await inbox(grace, id)).toEqual([])
  })

  it('are looked up again in a text that a process of an earlier version stored or edited', async () => {
    const { db } = innerState(service)
    const older = await post(`@${named('grace')} and @${named('bob')}`)
    await db.run(sql`UPDATE messages SET mention_origins = NULL WHERE id = ${older}`)
    const edited = await post(`@${named('grace')}`)
    await db.run(sql`UPDATE messages SET edited_at = created_at + 1 WHERE id = ${edited}`)
    await rename(grace, 'hopper')
    await rename(bob, 'grace')
    expect(await edit(older, `@${named('grace')} and @${named('bob')}!`)).toEqual({ user_ids: [bob.id] })
    expect(await edit(edited, `@${named('grace')}!`)).toEqual({ user_ids: [bob.id] })
    await rename(bob, 'bob')
    expect(await edit(edited, `@${named('grace')}!!`)).toEqual({ user_ids: [bob.id] })
  })

  it('are kept by a deletion and a restoration', async () => {
    const id = await post(`@${named('grace')} plese`)
    await rename(grace, 'hopper')
    await ada.messages.remove(id)
    await ada.messages.restore(id)
    expect(await edit(id, `@${named('grace')} please`)).toEqual({ user_ids: [grace.id] })
  })

  it('lose an erased user, whose name is text from then on', async () => {
    const eve = await service.signIn(named('eve'))
    await ada.participants.add(conversation_id, { user_id: eve.id })
    const text = await post(`@${named('eve')} and @${named('grace')} plese`)
    const ids = await post('hi', { user_ids: [eve.id, grace.id] })
    await ada.users.erase(eve.id)
    await innerState(service).tasks.settle()
    const stored = await innerState(service).db.all<{ mention_origins: string }>(
      sql`SELECT mention_origins FROM messages WHERE mention_origins IS NOT NULL`,
    )
    expect(stored.filter(({ mention_origins }) => mention_origins.includes(eve.id))).toEqual([])
    await rename(bob, 'eve')
    expect(await edit(text, `@${named('eve')} and @${named('grace')} please`)).toEqual({ user_ids: [grace.id] })
    expect(await edit(ids, 'hi!')).toEqual({ user_ids: [grace.id] })
  })

  it('keep no origins of an erased text', async () => {
    const eve = await service.signIn(named('eve'))
    await ada.participants.add(conversation_id, { user_id: eve.id })
    const { message_id } = await eve.messages.postRoot(conversation_id, { content: `@${named('grace')}` })
    await ada.users.erase(eve.id, { messages: 'erase' })
    await innerState(service).tasks.settle()
    const [row] = await innerState(service).db.all(sql`SELECT mention_origins FROM messages WHERE id = ${message_id}`)
    expect(row).toEqual({ mention_origins: null })
  })

  it('cost a post without names no entry', async () => {
    const id = await post('plain')
    const [row] = await innerState(service).db.all(sql`SELECT mention_origins FROM messages WHERE id = ${id}`)
    expect(row).toEqual({ mention_origins: null })
  })
})
