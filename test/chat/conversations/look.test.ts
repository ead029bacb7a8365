import { beforeAll, expect, it } from 'vitest'
import type { Layout } from '../../../lib/chat/conversations/schema-look.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { nextOfType } from '../../live/readers.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'
import { startWithFiles } from '../attachments/files.ts'

describeService('the look of a conversation', startWithFiles, (service) => {
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  /** As a process that knows no layouts leaves it. */
  const forgetLayout = (id: string) =>
    innerState(service).db.write((tx) => tx.run(sql`UPDATE conversations SET layout = NULL WHERE id = ${id}`))
  const lookOf = async (id: string) => {
    const { layout, layout_unset, topic, icon } = await ada.conversations.get(id)
    return { layout, layout_unset, topic, icon }
  }

  it('is a stream unless another layout is chosen, in every read', async () => {
    const plain = await ada.conversations.create({ title: 'plain' })
    expect(plain.conversation.layout).toBe('stream')
    const actor = await service.chat.users.actor(ada.id)
    for (const layout of ['stream', 'topics', 'assistant'] as const) {
      const { conversation, conversation_id } = await ada.conversations.create({ layout })
      const { conversations } = await ada.conversations.list()
      const overview = await service.chat.conversations.describe(OPERATOR, conversation_id)
      const reads = [
        conversation,
        await ada.conversations.get(conversation_id),
        await service.chat.conversations.get(actor, conversation_id),
        conversations.find(({ id }) => id === conversation_id),
        overview,
      ]
      for (const read of reads) {
        expect(read).toMatchObject({ layout })
        expect(read).not.toHaveProperty('layout_unset')
      }
      const ref = `layout-${layout}`
      for (const given of [layout, 'stream'] as const)
        expect((await service.chat.conversations.ensure(actor, { ref, layout: given })).conversation.layout).toBe(
          layout,
        )
    }
    const sent = await codeOf(ada.conversations.create({ layout: 'kanban' as Layout }))
    expect(sent).toBe('validation_failed')
  })

  it('is topics, unset, where no process has chosen a layout, until one is named, even the same', async () => {
    const { conversation_id: id } = await ada.conversations.create({ title: 'of before' })
    await forgetLayout(id)
    expect(await lookOf(id)).toEqual({ layout: 'topics', layout_unset: true })
    await ada.conversations.rename(id, { title: 'renamed', topic: 'old things' })
    expect(await lookOf(id)).toEqual({ layout: 'topics', layout_unset: true, topic: 'old things' })
    expect((await ada.conversations.list()).conversations.find((each) => each.id === id)).toMatchObject({
      layout: 'topics',
      layout_unset: true,
    })
    await ada.conversations.rename(id, { layout: 'topics' })
    expect(await lookOf(id)).toEqual({ layout: 'topics', topic: 'old things' })
  })

  it('has a topic that is a label, and an icon that is one emoji; an empty text removes them', async () => {
    const look = { topic: '  Analytical engines ', icon: '⚙️' }
    const { conversation_id: id, conversation } = await ada.conversations.create(look)
    expect(conversation).toMatchObject({ topic: 'Analytical engines', icon: '⚙️' })
    expect(await lookOf(id)).toEqual({ layout: 'stream', topic: 'Analytical engines', icon: '⚙️' })
    await ada.conversations.rename(id, { icon: ':gear:' })
    await ada.conversations.rename(id, { topic: 'x'.repeat(250) })
    expect(await lookOf(id)).toMatchObject({ topic: 'x'.repeat(250), icon: ':gear:' })
    const refused = { topic: ['x'.repeat(251), 'a\u202Eb', 'a\nb', '\u200B'], icon: ['a', '⚙️⚙️', ':', ' '] }
    for (const [path, texts] of Object.entries(refused))
      for (const text of texts) {
        const refusal = { code: 'validation_failed', errors: [{ path }] }
        await expect(ada.conversations.rename(id, { [path]: text })).rejects.toMatchObject(refusal)
        await expect(ada.conversations.create({ [path]: text })).rejects.toMatchObject(refusal)
      }
    await ada.conversations.rename(id, { topic: '  ', icon: '' })
    expect(await lookOf(id)).toEqual({ layout: 'stream' })
  })

  it('is changed by owners and admins, with an event; a layout also with an entry of the audit log', async () => {
    const { conversation_id: id } = await ada.conversations.create({ title: 'Rights' })
    const admin = grace
    const member = await service.signIn('linus')
    const viewer = await service.signIn('vera')
    const outsider = await service.signIn('eve')
    await ada.participants.add(id, { user_id: admin.id, role: 'admin' })
    await ada.participants.add(id, { user_id: member.id })
    await ada.participants.add(id, { user_id: viewer.id, role: 'viewer' })
    const stream = service.chat.events.follow(await service.chat.users.actor(member.id), id)
    await stream.next()
    const changes = [{ layout: 'topics' }, { topic: 'rights' }, { icon: '🔑' }] as const
    for (const change of changes) {
      for (const person of [member, viewer])
        expect(await codeOf(person.conversations.rename(id, change))).toBe('forbidden')
      expect(await codeOf(outsider.conversations.rename(id, change))).toBe('not_found')
      for (const person of [ada, admin]) expect(await person.conversations.rename(id, change)).toMatchObject(change)
      for (const _ of [ada, admin])
        expect(await nextOfType(stream, 'conversation.updated')).toMatchObject({ payload: { conversation: { id } } })
    }
    expect(await codeOf(admin.conversations.rename(id, { layout: 'stream', title: 'x' }))).toBe('forbidden')
    await ada.conversations.rename(id, { layout: 'assistant', title: 'Both' })
    expect(await nextOfType(stream, 'conversation.updated')).toMatchObject({
      payload: { conversation: { id, title: 'Both', layout: 'assistant', topic: 'rights', icon: '🔑' } },
    })
    expect(await service.chat.conversations.describe(OPERATOR, id)).toMatchObject({ topic: 'rights', icon: '🔑' })
    await stream.return(undefined)
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'conversation.layout_changed' })
    expect(entries.filter(({ subject_id }) => subject_id === id)).toMatchObject([
      { actor_id: ada.id, detail: { old_layout: 'topics', layout: 'assistant' } },
      { actor_id: ada.id, detail: { old_layout: 'stream', layout: 'topics' } },
    ])
  })

  it('stays a stream without topic and icon in a direct conversation, also of before layouts', async () => {
    await ada.conversations
      .create()
      .then(({ conversation_id }) => ada.participants.add(conversation_id, { user_id: grace.id }))
    const { conversation_id: id, conversation } = await ada.conversations.direct({ user_id: grace.id })
    expect(conversation).toMatchObject({ direct: true, layout: 'stream' })
    expect(conversation).not.toHaveProperty('layout_unset')
    for (const change of [
      { layout: 'stream' },
      { layout: 'topics' },
      { topic: 'x' },
      { topic: '' },
      { icon: '⚙️' },
    ] as const)
      expect(await codeOf(ada.conversations.rename(id, change))).toBe('conflict')
    await ada.conversations.rename(id, { policy: { receipts: 'off' } })
    await forgetLayout(id)
    expect(await lookOf(id)).toEqual({ layout: 'stream' })
    // As an older process, or a hand, may have left it.
    await innerState(service).db.write((tx) => tx.run(sql`UPDATE conversations SET layout = 'topics' WHERE id = ${id}`))
    expect(await lookOf(id)).toEqual({ layout: 'stream' })
  })

  it('decides who is asked by a post without a role: in the layout assistant the assistant', async () => {
    const asked = { stream: 'user', topics: 'user', assistant: 'assistant' } as const
    for (const [layout, role] of Object.entries(asked)) {
      const { conversation_id } = await ada.conversations.create({ layout: layout as Layout })
      await ada.participants.add(conversation_id, { user_id: grace.id })
      const root = await ada.messages.postRoot(conversation_id, { content: 'why?' })
      expect([layout, root.message.role]).toEqual([layout, role])
      await innerState(service).answers.idle()
      const answered = await ada.messages.get(root.message_id)
      if (role === 'assistant')
        expect(answered).toMatchObject({ status: 'complete', prompt: 'why?', requested_by: ada.id })
      else expect(answered).toMatchObject({ content: 'why?', author_user_id: ada.id })
      const reply = await grace.messages.reply(root.message_id, { content: 'how?' })
      expect(reply.message.role).toBe(role)
      // A role that is named is taken in every layout.
      for (const named of ['user', 'assistant'] as const)
        expect((await ada.messages.reply(root.message_id, { content: 'x', role: named })).message.role).toBe(named)
      await innerState(service).answers.idle()
    }
  })

  it('decides it by the layout at the time of the post, for posts that are stored together', async () => {
    const talks = await Promise.all(times(4, () => ada.conversations.create({ layout: 'assistant' })))
    const rooms = await Promise.all(times(4, () => ada.conversations.create()))
    const places = [...talks, ...rooms].map(({ conversation_id }) => conversation_id)
    const posted = await Promise.all(
      [...places, ...places].map((id) => ada.messages.postRoot(id, { content: 'all at once' })),
    )
    for (const { conversation_id, message } of posted)
      expect(message.role).toBe(places.indexOf(conversation_id) < 4 ? 'assistant' : 'user')
    await innerState(service).answers.idle()
    for (const { message_id, message } of posted)
      expect(await ada.messages.get(message_id)).toMatchObject({ status: 'complete', role: message.role })
    const [changed] = places
    await ada.conversations.rename(changed!, { layout: 'topics' })
    expect((await ada.messages.postRoot(changed!, { content: 'now' })).message.role).toBe('user')
  })

  it('does not ask for a system actor that leaves out the role', async () => {
    const { conversation_id } = await ada.conversations.create({ layout: 'assistant' })
    const system = await service.chat.system('deploys')
    const { message } = await service.chat.messages.postRoot(system, conversation_id, { content: 'deployed' })
    expect(message.role).toBe('system')
  })

  it('does not ask for a bot that leaves out the role: it may answer each message', async () => {
    const { conversation_id } = await ada.conversations.create({ layout: 'assistant' })
    const { bot } = await ada.bots.create({ username: 'echo' })
    await ada.participants.add(conversation_id, { user_id: bot.id })
    const actor = await service.chat.users.actor(bot.id)
    const { message, root_id } = await service.chat.messages.postRoot(actor, conversation_id, { content: 'first' })
    const reply = await service.chat.messages.reply(actor, root_id, { content: 'second' })
    expect([message.role, reply.message.role]).toEqual(['user', 'user'])
  })

  it('looks for the files of a question that leaves out its role, as of one that names it', async () => {
    const { conversation_id } = await ada.conversations.create({ layout: 'assistant' })
    const attachment_ids = [conversation_id]
    for (const role of [undefined, 'assistant', 'user'] as const) {
      const post = ada.messages.postRoot(conversation_id, { content: 'look', attachment_ids, ...(role && { role }) })
      expect(await codeOf(post)).toBe('not_found')
    }
  })

  it('keeps a key for its post: left out is not `user` where the assistant was asked', async () => {
    const { conversation_id } = await ada.conversations.create({ layout: 'assistant' })
    const post = (role?: 'user' | 'assistant') =>
      ada.messages.postRoot(
        conversation_id,
        { content: 'once', ...(role && { role }) },
        {
          headers: { 'idempotency-key': 'a-key' },
        },
      )
    const first = await post()
    expect(first.message.role).toBe('assistant')
    await ada.conversations.rename(conversation_id, { layout: 'stream' })
    expect(await post()).toMatchObject({ message_id: first.message_id, message: { role: 'assistant' } })
    for (const role of ['user', 'assistant'] as const) expect(await codeOf(post(role))).toBe('idempotency_mismatch')
  })
})

describeService(
  'a service with another default layout',
  { config: { conversations: { default_layout: 'topics' } } },
  (service) => {
    it('gives it to new conversations, and tells pages', async () => {
      const ada = await service.signIn('ada')
      expect((await ada.conversations.create()).conversation).toMatchObject({ layout: 'topics' })
      expect((await ada.conversations.create()).conversation).not.toHaveProperty('layout_unset')
      expect((await ada.conversations.create({ layout: 'stream' })).conversation.layout).toBe('stream')
      expect((await ada.conversations.direct({ username: 'ada' })).conversation.layout).toBe('stream')
      expect((await service.client().capabilities.get()).default_layout).toBe('topics')
    })
  },
)
