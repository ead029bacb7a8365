import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { codeOf, type Person, startService } from '../../support/service.ts'

const OPEN = { visibility: 'open', policy: { join: 'anyone' } } as const

describeService(
  'an open room',
  async (url) =>
    startService(url, {
      config: {
        attachments: await filesInFolder(),
        access: { roles: { blind: { post: true }, reacting: { browse: true, react: true }, guest: {} } },
        guests: { enabled: true },
      },
    }),
  (service) => {
    let ada: Person
    let grace: Person
    beforeAll(async () => {
      ada = await service.signIn('ada')
      grace = await service.signIn('grace')
    })

    async function openRoom(title: string, options: object = OPEN) {
      const { conversation_id } = await ada.conversations.create({ title, ...options })
      const { message_id: root_id } = await ada.messages.postRoot(conversation_id, { content: `first in ${title}` })
      const { message_id } = await ada.messages.reply(root_id, { content: `reply in ${title}` })
      return { conversation_id, root_id, message_id }
    }

    it('is read by a user who has not joined, without what is of participants', async () => {
      const { conversation_id, root_id, message_id } = await openRoom('Engines')
      const read = await grace.conversations.get(conversation_id)
      expect(read).toMatchObject({ title: 'Engines', visibility: 'open', joined: false, can: ['join'] })
      expect(read.participants.map(({ user_id }) => user_id)).toEqual([ada.id])
      for (const own of ['mentions', 'level', 'muted_until', 'archived', 'favourite'])
        expect(read).not.toHaveProperty(own)
      const { threads } = await grace.threads.list(conversation_id)
      expect(threads).toHaveLength(1)
      for (const own of ['unread', 'unread_replies', 'following']) expect(threads[0]).not.toHaveProperty(own)
      const timeline = await grace.messages.list(conversation_id, { view: 'all', around: 'unread' })
      expect(timeline).not.toHaveProperty('first_unread_id')
      expect(timeline.messages.map(({ id }) => id)).toEqual([root_id, message_id])
      expect(timeline.messages.some((message) => 'unread' in message)).toBe(false)
      expect(timeline.messages[0]!.thread).not.toHaveProperty('following')
      expect((await ada.conversations.get(conversation_id)).joined).toBeUndefined()
    })

    it('names the authors of what is read, also those who left', async () => {
      const { conversation_id } = await openRoom('Names')
      const [author, reader, blind] = await Promise.all(
        ['author', 'stranger', 'blind'].map((name) => service.signIn(name)),
      )
      expect(await codeOf(reader!.users.get(author!.id))).toBe('not_found')
      await author!.conversations.join(conversation_id)
      await author!.messages.postRoot(conversation_id, { content: 'hello' })
      expect((await reader!.users.get(author!.id)).user.username).toBe('author')
      await author!.conversations.leave(conversation_id)
      expect((await reader!.users.search({ ids: author!.id })).users).toMatchObject([{ username: 'author' }])
      await ada.users.change(blind!.id, { roles: ['blind'] })
      expect(await codeOf(blind!.users.get(author!.id))).toBe('not_found')
    })

    it('is in the directory, and in no list and no search of a user who has not joined', async () => {
      const { conversation_id } = await openRoom('Zeppelins')
      const { conversations } = await grace.conversations.directory({ query: 'zeppelins' })
      expect(conversations).toMatchObject([{ id: conversation_id, visibility: 'open', joined: false }])
      expect((await grace.conversations.list({})).conversations.map(({ id }) => id)).not.toContain(conversation_id)
      expect((await grace.search.messages({ q: 'zeppelins' })).results).toEqual([])
      const narrowed = grace.search.messages({ q: `first in:${conversation_id}` })
      await expect(narrowed).rejects.toMatchObject({ code: 'forbidden', reason: 'not_joined' })
    })

    it('refuses what its participants write, whatever its policy allows, until one joins', async () => {
      const policy = { ...OPEN.policy, post: 'everyone', reply: 'everyone', react: 'everyone' } as const
      const { conversation_id, root_id } = await openRoom('Valves', { ...OPEN, policy })
      const writes = [
        () => grace.messages.postRoot(conversation_id, { content: 'x' }),
        () => grace.messages.postRoot(conversation_id, { content: 'x' }, { headers: { 'idempotency-key': 'once' } }),
        () => grace.messages.reply(root_id, { content: 'x' }),
        () => grace.reactions.add(root_id, '👍'),
        () => grace.threads.follow(root_id),
      ]
      for (const write of writes)
        await expect(write()).rejects.toMatchObject({ code: 'forbidden', reason: 'not_joined' })
      expect((await grace.messages.get(root_id)).reactions ?? []).toEqual([])
      const { conversation } = await grace.conversations.join(conversation_id)
      expect(conversation).not.toHaveProperty('joined')
      expect(conversation.can).toContain('post')
      for (const write of writes) await write()
      // A missing quote is none of the room's business.
      const quote_id = '01980a3c-a000-7a10-8b20-0c4f1d2e3a46'
      expect(await codeOf(grace.messages.postRoot(conversation_id, { content: 'x', quote_id }))).toBe('not_found')
    })

    it('offers to join only where joining would pass', async () => {
      const { conversation_id: invited } = await openRoom('By invite', { visibility: 'open' })
      const { conversation_id: frozen } = await openRoom('Frozen', OPEN)
      await ada.conversations.rename(frozen, { frozen: true })
      const { conversation_id } = await openRoom('Gears')
      const reader = await service.signIn('reader', ['read_only'])
      expect((await grace.conversations.get(invited)).can).toEqual([])
      expect((await grace.conversations.get(frozen)).can).toEqual([])
      const { conversation_id: ofTwo } = await openRoom('Of two', { ...OPEN, is_group: false })
      expect((await grace.conversations.get(ofTwo)).can).toEqual(['join'])
      await ada.participants.add(ofTwo, { user_id: (await service.signIn('second')).id })
      expect((await grace.conversations.get(ofTwo)).can).toEqual([])
      const explained = { user_id: grace.id, act: 'join', conversation_id: ofTwo } as const
      expect(await service.chat.access.explain(OPERATOR, explained)).toMatchObject({
        allowed: false,
        message: 'This conversation is between two people.',
      })
      expect(await reader.conversations.get(conversation_id)).toMatchObject({ joined: false, can: [] })
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'for all' })
      const post = reader.messages.reply(message_id, { content: 'x' })
      await expect(post).rejects.toMatchObject({ code: 'forbidden', reason: 'role' })
    })

    it('refuses a user who only reads by the role what the role forbids, and else for not having joined', async () => {
      const { conversation_id, root_id } = await openRoom('Levers')
      const reader = await service.signIn('onlooker', ['read_only'])
      const actor = await service.chat.users.actor(reader.id)
      const writes = [
        () => reader.messages.postRoot(conversation_id, { content: 'x' }),
        () => reader.messages.reply(root_id, { content: 'x' }),
        () => reader.reactions.add(root_id, '👍'),
        () => reader.presence.setTyping({ conversation_id, seconds: 5 }),
        () => reader.conversations.rename(conversation_id, { title: 'x' }),
        () => reader.participants.remove(conversation_id, ada.id),
        () => reader.commands.invoke(conversation_id, { bot_id: ada.id, name: 'deploy' }),
      ]
      for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'forbidden', reason: 'role' })
      const owns = [
        () => reader.conversations.settings(conversation_id),
        () => reader.conversations.setSettings(conversation_id, { favourite: true }),
        () => reader.conversations.markRead(conversation_id),
        () => reader.threads.markRead(root_id),
        () => reader.threads.follow(root_id),
        () => reader.threads.unfollow(root_id),
        () => reader.threads.unread(conversation_id),
        () => reader.conversations.leave(conversation_id),
        () => service.chat.participants.remove(actor, conversation_id, reader.id),
      ]
      for (const own of owns) await expect(own()).rejects.toMatchObject({ code: 'forbidden', reason: 'not_joined' })
      // A member whom another role lets write, but not post.
      const mute = await service.signIn('mute')
      await ada.users.change(mute.id, { roles: ['reacting'] })
      for (const write of [
        () => mute.messages.postRoot(conversation_id, { content: 'x' }),
        () => mute.presence.setTyping({ conversation_id, seconds: 5 }),
      ])
        await expect(write()).rejects.toMatchObject({ code: 'forbidden', reason: 'role', right: 'post' })
      await expect(mute.reactions.add(root_id, '👍')).rejects.toMatchObject({ reason: 'not_joined' })
    })

    it('is not what a ref names to a user who has not joined', async () => {
      const { conversation_id } = await openRoom('Orders', { ...OPEN, ref: 'order:7' })
      const { chat } = service
      const ensure = async (person: Person) =>
        chat.conversations.ensure(await chat.users.actor(person.id), { ref: 'order:7', title: 'Orders' })
      expect(await codeOf(ensure(grace))).toBe('not_found')
      await grace.conversations.join(conversation_id)
      expect((await ensure(grace)).conversation_id).toBe(conversation_id)
    })

    it('is unknown without the right to browse, to a guest, and once it is private or deleted', async () => {
      const { conversation_id, root_id } = await openRoom('Pistons')
      const blind = await service.signIn('blind')
      await ada.users.change(blind.id, { roles: ['blind'] })
      const { token } = (await fetch(`${service.base_url}/api/guests`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: true }),
      }).then((answer) => answer.json())) as { token: string }
      const asGuest = (path: string) =>
        fetch(`${service.base_url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      expect((await asGuest(`/api/conversations/${conversation_id}`)).status).toBe(404)
      expect((await asGuest(`/api/messages/${root_id}`)).status).toBe(404)
      for (const call of [
        () => blind.conversations.get(conversation_id),
        () => blind.messages.get(root_id),
        () => blind.messages.reply(root_id, { content: 'x' }),
      ])
        expect(await codeOf(call())).toBe('not_found')
      expect((await grace.messages.get(root_id)).content).toBe('first in Pistons')
      await ada.conversations.rename(conversation_id, { visibility: 'listed' })
      expect(await codeOf(grace.messages.get(root_id))).toBe('not_found')
      expect(await codeOf(grace.messages.reply(root_id, { content: 'x' }))).toBe('not_found')
      await ada.conversations.rename(conversation_id, { visibility: 'open' })
      expect((await grace.messages.get(root_id)).id).toBe(root_id)
      await ada.conversations.remove(conversation_id)
      expect(await codeOf(grace.messages.get(root_id))).toBe('not_found')
    })

    it('shows a former participant no deleted message, also an own one', async () => {
      const policy = { ...OPEN.policy, post: 'everyone' } as const
      const { conversation_id } = await openRoom('Wheels', { ...OPEN, policy })
      await grace.conversations.join(conversation_id)
      const { message_id } = await grace.messages.postRoot(conversation_id, { content: 'own words' })
      await grace.messages.remove(message_id, { reason: 'mistake' })
      await grace.conversations.leave(conversation_id)
      const { messages } = await grace.messages.list(conversation_id)
      const deleted = messages.find(({ id }) => id === message_id)
      expect(deleted).toMatchObject({ content: '' })
      expect(deleted).not.toHaveProperty('delete_reason')
      const restore = grace.messages.restore(message_id)
      await expect(restore).rejects.toMatchObject({ code: 'forbidden', reason: 'not_joined' })
    })

    it('has its files read by all who read it, by links too, as long as they do', async () => {
      const { conversation_id } = await openRoom('Drawings')
      const { attachment } = await ada.attachments.create(conversation_id, { name: 'a.txt', size: 5 })
      const bytes = new TextEncoder().encode('lines')
      await service.chat.attachments.putPart(await service.chat.users.actor(ada.id), attachment.id, 1, { bytes })
      await ada.messages.postRoot(conversation_id, { content: 'see', attachment_ids: [attachment.id] })
      const { url } = await grace.attachments.link(attachment.id)
      const read = async () => {
        const answer = await fetch(new URL(url, service.base_url))
        return answer.ok ? answer.text() : answer.status
      }
      expect(await read()).toBe('lines')
      const upload = grace.attachments.create(conversation_id, { name: 'b.txt', size: 1 })
      await expect(upload).rejects.toMatchObject({ code: 'forbidden', reason: 'not_joined' })
      await ada.conversations.rename(conversation_id, { visibility: 'private', policy: { join: null } })
      expect(await read()).toBe(404)
    })
  },
)
