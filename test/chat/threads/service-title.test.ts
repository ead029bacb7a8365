import { beforeAll, expect, it, onTestFinished } from 'vitest'
import type { MessageBefore } from '../../../lib/index.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { nextOfType } from '../../live/readers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService } from '../../support/service.ts'

const seen: MessageBefore[] = []
const hooks = { beforeMessage: (message: MessageBefore) => void seen.push(message) }

describeService('the title of a thread', { ports: { hooks } }, (service) => {
  let ada: Person
  let grace: Person
  let conversation_id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })

  const titlesOf = async (root_id: string) => [
    (await ada.threads.list(conversation_id)).threads.find((thread) => thread.root_id === root_id)!.title,
    (await ada.threads.tree(root_id)).title,
    (await ada.threads.messages(root_id)).root.thread!.title,
    (await ada.messages.list(conversation_id)).messages.find(({ id }) => id === root_id)!.thread!.title,
  ]
  const find = async (q: string) =>
    (await ada.search.messages({ q })).results.map(({ message, excerpts }) => [message.id, excerpts])

  it('is given with its root, is in lists, in the tree and in thread.new, and is a label', async () => {
    const stream = service.chat.events.follow(await service.chat.users.actor(ada.id), conversation_id)
    await stream.next()
    seen.length = 0
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'text', title: '  On valves ' })
    expect(seen).toMatchObject([{ content: 'text', title: 'On valves' }])
    expect(await titlesOf(root_id)).toEqual(Array(4).fill('On valves'))
    expect(await nextOfType(stream, 'thread.new')).toMatchObject({
      payload: { summary: { root_id, title: 'On valves' } },
    })
    await stream.return(undefined)
    const plain = await grace.messages.postRoot(conversation_id, { content: 'text', title: ' ' })
    expect(await titlesOf(plain.root_id)).toEqual(Array(4).fill(undefined))
    for (const title of ['x'.repeat(201), 'a\nb', 'a\u202Eb']) {
      const refusal = { code: 'validation_failed', errors: [{ path: 'title' }] }
      await expect(ada.messages.postRoot(conversation_id, { content: 'a', title })).rejects.toMatchObject(refusal)
      await expect(grace.threads.setTitle(root_id, { title })).rejects.toMatchObject(refusal)
    }
    const actor = await service.chat.users.actor(ada.id)
    // Only what begins a thread has a title.
    const reply = service.chat.messages.reply(actor, root_id, { content: 'b', title: 'c' } as never)
    await expect(reply).rejects.toMatchObject({ code: 'validation_failed', errors: [{ path: 'title' }] })
  })

  it('is part of what a repeated post is compared by', async () => {
    const headers = { 'idempotency-key': 'titled' }
    const post = (title?: string) =>
      ada.messages.postRoot(conversation_id, { content: 'once', ...(title !== undefined && { title }) }, { headers })
    const { root_id } = await post('One')
    expect((await post(' One ')).root_id).toBe(root_id)
    for (const title of ['Two', '', undefined]) expect(await codeOf(post(title))).toBe('idempotency_mismatch')
  })

  it('is changed with an event, and is no activity; an empty text removes it', async () => {
    const first = await grace.messages.postRoot(conversation_id, { content: 'first' })
    const second = await grace.messages.postRoot(conversation_id, { content: 'second' })
    await ada.threads.markRead(first.root_id)
    const { threads: before } = await ada.threads.list(conversation_id, { limit: 2 })
    const actor = await service.chat.users.actor(ada.id)
    const [own, all] = [service.chat.events.follow(actor, conversation_id), service.chat.events.followAll(actor)]
    await Promise.all([own.next(), all.next()])
    seen.length = 0
    await grace.threads.setTitle(first.root_id, { title: 'New' })
    expect(seen).toEqual([])
    const payload = { conversation_id, root_id: first.root_id, title: 'New' }
    for (const stream of [own, all]) expect(await nextOfType(stream, 'thread.updated')).toMatchObject({ payload })
    const { threads: after } = await ada.threads.list(conversation_id, { limit: 2 })
    expect(after).toEqual(before.map((each) => (each.root_id === first.root_id ? { ...each, title: 'New' } : each)))
    expect(after[0]!.root_id).toBe(second.root_id)
    // The same again is no change.
    await grace.threads.setTitle(first.root_id, { title: ' New' })
    await grace.threads.setTitle(first.root_id, { title: '' })
    for (const stream of [own, all]) {
      expect(await nextOfType(stream, 'thread.updated')).toMatchObject({ payload: { ...payload, title: '' } })
      await stream.return(undefined)
    }
    expect(await titlesOf(first.root_id)).toEqual(Array(4).fill(undefined))
    // Composed when it is read, an event has the title of then.
    await grace.threads.setTitle(first.root_id, { title: 'Latest' })
  })

  it('is set by the author of the root, the user who asked, owners and admins, if they may post', async () => {
    const { conversation_id: id } = await ada.conversations.create()
    const people: Record<string, Person> = {}
    for (const role of ['admin', 'member', 'viewer'] as const) {
      people[role] = await service.signIn(`title-${role}`)
      await ada.participants.add(id, { user_id: people[role].id, role })
    }
    await ada.participants.add(id, { user_id: grace.id })
    const { admin, member, viewer } = people as Record<'admin' | 'member' | 'viewer', Person>
    const post = await grace.messages.postRoot(id, { content: 'of grace' })
    const asked = await grace.messages.postRoot(id, { content: 'why?', role: 'assistant' })
    await innerState(service).answers.idle()
    for (const { root_id } of [post, asked]) {
      for (const person of [grace, ada, admin]) await person.threads.setTitle(root_id, { title: `by ${person.id}` })
      for (const person of [member, viewer])
        expect(await codeOf(person.threads.setTitle(root_id, { title: 'x' }))).toBe('forbidden')
      const eve = await service.signIn('eve')
      expect(await codeOf(eve.threads.setTitle(root_id, { title: 'x' }))).toBe('not_found')
    }
    const reply = await grace.messages.reply(post.root_id, { content: 'a reply' })
    expect(await codeOf(grace.threads.setTitle(reply.message_id, { title: 'x' }))).toBe('not_found')
    await ada.participants.changeRole(id, grace.id, { role: 'viewer' })
    expect(await codeOf(grace.threads.setTitle(post.root_id, { title: 'x' }))).toBe('forbidden')
    await ada.messages.remove(post.root_id)
    expect(await codeOf(ada.threads.setTitle(post.root_id, { title: 'x' }))).toBe('message_deleted')
  })

  it('is in nothing while its root is deleted, and comes back with it', async () => {
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'text', title: 'Vanishing' })
    await ada.threads.setTitle(root_id, { title: 'Vanished' })
    await ada.messages.remove(root_id)
    expect(await titlesOf(root_id)).toEqual(Array(4).fill(undefined))
    expect(await find('vanished')).toEqual([])
    const all = service.chat.events.follow(await service.chat.users.actor(ada.id), conversation_id, {
      last_event_id: (await ada.threads.list(conversation_id)).stream_position!.replace(/\d+$/, '0'),
    })
    const replayed: string[] = []
    for await (const { event } of all) {
      if (event.type === 'thread.new' || event.type === 'thread.updated') replayed.push(JSON.stringify(event.payload))
      if (event.type === 'message.deleted' && event.payload.message.id === root_id) break
    }
    const about = replayed.filter((text) => text.includes(root_id))
    expect(about).toHaveLength(2)
    expect(about.join()).not.toContain('anish')
    await ada.messages.restore(root_id)
    expect(await titlesOf(root_id)).toEqual(Array(4).fill('Vanished'))
    expect(await find('vanished')).toHaveLength(1)
  })

  it('is found by the search at once, as a text of the root, before and after the index has it', async () => {
    const { root_id } = await ada.messages.postRoot(conversation_id, {
      content: 'plain words',
      title: 'Governors spin',
    })
    await ada.messages.reply(root_id, { content: 'a reply without it' })
    const long = await ada.messages.postRoot(conversation_id, {
      content: 'long '.repeat(2_000),
      title: 'Governors rest',
    })
    const excerpt = (text: string) => [{ field: 'title', text, ranges: [[0, 9]] }]
    for (const _ of ['directly', 'by the index']) {
      expect(await find('governors')).toEqual([
        [long.message_id, excerpt('Governors rest')],
        [root_id, excerpt('Governors spin')],
      ])
      expect((await find('governors plain'))[0]![1]).toMatchObject([{ field: 'title' }, { field: 'content' }])
      expect(await find('"spin plain"')).toEqual([])
      expect(await find('plain -spin')).toEqual([])
      await innerState(service).search.move()
      await service.idle()
    }
    await ada.threads.setTitle(root_id, { title: 'Flywheels' })
    expect(await find('governors spin')).toEqual([])
    expect(await find('flywheels')).toHaveLength(1)
    await ada.threads.setTitle(root_id, { title: '' })
    await service.idle()
    expect(await find('flywheels')).toEqual([])
  })
})

describeOnEachDatabase('titles of erased users', (openUrl) => {
  it.each(['keep', 'erase'] as const)('are with their texts, which the erasure does: %s', async (messages) => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'text', title: 'Of grace' })
    await ada.messages.reply(root_id, { content: 'a reply' })
    await service.idle()
    await service.chat.users.erase(OPERATOR, grace.id, { messages })
    for (const _ of ['at once', 'in the end']) {
      const title = messages === 'keep' ? 'Of grace' : undefined
      expect((await ada.threads.tree(root_id)).title).toBe(title)
      expect((await ada.threads.messages(root_id)).root.thread!.title).toBe(title)
      expect((await ada.threads.list(conversation_id)).threads[0]!.title).toBe(title)
      expect((await ada.search.messages({ q: 'grace' })).results).toHaveLength(messages === 'keep' ? 1 : 0)
      await innerState(service).tasks.settle()
    }
    const [row] = await innerState(service).db.all(sql`SELECT title FROM threads`)
    expect(row).toEqual({ title: messages === 'keep' ? 'Of grace' : null })
  })
})
