import { beforeAll, describe, expect, it } from 'vitest'
import type { ChatError } from '../../../lib/core/errors.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { describeService, setUpNodes, startNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { type Person, startService, type TestService } from '../../support/service.ts'
import { withResolvers } from '../../support/with-resolvers.ts'

/** The code and the reason of a failing call; the call must fail. */
async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (cause: ChatError) => cause,
  )
  return error ? `${error.code} ${error.reason} ${error.right ?? ''}`.trim() : 'allowed'
}

interface Room {
  id: string
  root: string
  people: Record<'owner' | 'admin' | 'member' | 'viewer', Person>
}

let count = 0

/** A conversation with a participant of each of these roles. */
async function makeRoom(service: TestService): Promise<Room> {
  const n = ++count
  const roles = ['owner', 'admin', 'member', 'viewer'] as const
  const people: Person[] = []
  for (const role of roles) people.push(await service.signIn(`${role}-${n}`))
  const [owner, ...others] = people as [Person, ...Person[]]
  const { conversation_id: id } = await owner.conversations.create({ title: 'Engines' })
  for (const [index, { id: user_id }] of others.entries())
    await owner.participants.add(id, { user_id, role: roles[index + 1]! })
  const { message_id: root } = await owner.messages.postRoot(id, { content: 'first' })
  const named = Object.fromEntries(roles.map((role, index) => [role, people[index]!]))
  return { id, root, people: named as Room['people'] }
}

describeService(
  'a conversation with rules of its own',
  async (url) => startService(url, { config: { attachments: await filesInFolder() } }),
  (service) => {
    let room: Room
    beforeAll(async () => {
      room = await makeRoom(service)
    })

    it('is one for announcements: admins post, no participant replies, all react', async () => {
      const { id, root, people } = room
      const policy = { post: 'admins', reply: 'nobody', react: 'everyone' } as const
      const changed = await people.admin.conversations.rename(id, { policy })
      expect(changed.policy).toEqual({ ...policy, mention_all: 'admins', receipts: 'off' })
      for (const person of [people.owner, people.admin]) await person.messages.postRoot(id, { content: 'News' })
      for (const person of [people.member, people.viewer])
        expect(await refusalOf(person.messages.postRoot(id, { content: 'x' }))).toBe('forbidden policy post')
      for (const person of Object.values(people)) {
        expect(await refusalOf(person.messages.reply(root, { content: 'x' }))).toBe('forbidden policy reply')
        await person.reactions.add(root, '👍')
      }
      const system = await service.chat.system('news')
      await service.chat.messages.reply(system, root, { content: 'System actors are free' })
      await people.owner.conversations.rename(id, { policy: { post: null, reply: null, react: null } })
      await people.member.messages.postRoot(id, { content: 'Again' })
      expect(await refusalOf(people.viewer.reactions.add(root, '🎉'))).toBe('forbidden participant_role react')
      expect((await people.owner.conversations.get(id)).policy).toEqual({ mention_all: 'admins', receipts: 'off' })
      const { entries } = await service.chat.audit.list(OPERATOR, { act: 'conversation.policy_changed' })
      expect(entries.filter(({ subject_id }) => subject_id === id).map(({ detail }) => detail)).toEqual([
        { post: 'unset', reply: 'unset', react: 'unset' },
        policy,
      ])
    })

    it('lets viewers write where the rules do, change what they wrote, and take it back', async () => {
      const { id, people } = await makeRoom(service)
      await people.owner.conversations.rename(id, { policy: { post: 'everyone' } })
      const { message_id } = await people.viewer.messages.postRoot(id, { content: 'May I?' })
      await people.viewer.messages.edit(message_id, { content: 'I may' })
      await people.owner.conversations.rename(id, { policy: { post: 'admins' } })
      const { message_id: other } = await people.admin.messages.postRoot(id, { content: 'Rules' })
      expect(await refusalOf(people.viewer.messages.edit(message_id, { content: 'x' }))).toBe('forbidden policy post')
      expect(await refusalOf(people.viewer.messages.remove(other, {}))).toBe('forbidden participant_role moderate')
      await people.owner.conversations.rename(id, { policy: { post: 'everyone' } })
      await people.viewer.messages.remove(message_id, {})
    })

    it('keeps the last word of members about what they wrote when they may no longer write', async () => {
      const { id, people } = await makeRoom(service)
      const { message_id } = await people.member.messages.postRoot(id, { content: 'mine' })
      await people.owner.conversations.rename(id, { policy: { post: 'owners', reply: 'owners' } })
      expect(await refusalOf(people.member.messages.edit(message_id, { content: 'x' }))).toBe('forbidden policy post')
      await people.member.messages.remove(message_id, {})
    })

    it('lets members add and invite others, with no right that they do not have', async () => {
      const { id, people } = await makeRoom(service)
      const guest = await service.signIn(`guest-${count}`)
      expect(await refusalOf(people.member.participants.add(id, { user_id: guest.id }))).toBe(
        'forbidden participant_role add',
      )
      await people.owner.conversations.rename(id, { policy: { add: 'members', invite: 'members' } })
      expect(await refusalOf(people.member.participants.add(id, { user_id: guest.id, role: 'admin' }))).toBe(
        'forbidden participant_role add',
      )
      expect(await refusalOf(people.viewer.participants.add(id, { user_id: guest.id }))).toBe(
        'forbidden participant_role add',
      )
      const { token } = await people.member.invites.create(id, {})
      await people.member.participants.add(id, { user_id: guest.id })
      const [first, second] = [await service.signIn(`first-${count}`), await service.signIn(`second-${count}`)]
      const many = await people.member.invites.create(id, { max_uses: 2 })
      await first.invites.accept({ token: many.token! })
      await people.owner.conversations.rename(id, { policy: { invite: null } })
      expect(await refusalOf(second.invites.accept({ token: many.token! }))).toBe('invite_revoked undefined')
      expect(await refusalOf(second.invites.accept({ token: token! }))).toBe('invite_revoked undefined')
    })

    it('decides who pins, attaches files and mentions all', async () => {
      const { id, root, people } = await makeRoom(service)
      const policy = { pin: 'admins', attach: 'admins', mention_all: 'everyone', post: 'everyone' } as const
      await people.owner.conversations.rename(id, { policy })
      expect(await refusalOf(people.member.pins.add(root))).toBe('forbidden policy pin')
      await people.admin.pins.add(root)
      const file = { name: 'a.txt', size: 1 }
      expect(await refusalOf(people.member.attachments.create(id, file))).toBe('forbidden policy attach')
      await people.admin.attachments.create(id, file)
      const mentions = { all: true }
      await people.viewer.messages.postRoot(id, { content: 'all of you', mentions })
      await people.owner.conversations.rename(id, { policy: { mention_all: 'owners' } })
      expect(await refusalOf(people.admin.messages.postRoot(id, { content: 'x', mentions }))).toBe(
        'forbidden policy mention_all',
      )
    })

    it('refuses values and rules that do not exist', async () => {
      const { id, people } = room
      for (const policy of [{ post: 'friends' }, { post: 1 }, { publish: 'admins' }, { mention_all: '' }])
        expect(await refusalOf(people.owner.conversations.rename(id, { policy: policy as never }))).toMatch(
          /^validation_failed/,
        )
    })

    it('is created with its rules, and a direct one has none of its own', async () => {
      const { people } = room
      const { conversation } = await people.owner.conversations.create({
        title: 'News',
        policy: { post: 'admins', pin: null },
        frozen: true,
      })
      expect(conversation).toMatchObject({ policy: { post: 'admins' }, frozen_at: conversation.created_at })
      const { conversation_id: direct } = await people.owner.conversations.direct({ user_id: people.member.id })
      for (const change of [{ policy: { post: 'nobody' } as const }, { frozen: true }])
        expect(await refusalOf(people.owner.conversations.rename(direct, change))).toMatch(/^conflict/)
      await people.member.conversations.rename(direct, { policy: { receipts: 'off', mention_all: 'nobody' } })
    })
  },
)

describeService(
  'a frozen conversation',
  async (url) => startService(url, { config: { attachments: await filesInFolder() } }),
  (service) => {
    it('is read and moderated, and nothing is added to it or changed', async () => {
      const { id, root, people } = await makeRoom(service)
      const { owner, admin, member } = people
      const { message_id: own } = await member.messages.postRoot(id, { content: 'mine' })
      await member.reactions.add(root, '👍')
      const system = await service.chat.system('news')
      const { token } = await owner.invites.create(id, {})
      const guest = await service.signIn(`late-${count}`)
      for (const person of [admin, member])
        expect(await refusalOf(person.conversations.rename(id, { frozen: true }))).toBe(
          'forbidden participant_role freeze',
        )
      const { frozen_at } = await owner.conversations.rename(id, { frozen: true })
      expect(frozen_at).toBeDefined()
      expect((await owner.conversations.rename(id, { frozen: true })).frozen_at).toBe(frozen_at)
      expect((await member.conversations.list({})).conversations[0]).toMatchObject({ frozen_at })

      const refused: [string, () => Promise<unknown>][] = [
        ['post', () => member.messages.postRoot(id, { content: 'x' })],
        ['reply', () => member.messages.reply(root, { content: 'x' })],
        ['ask', () => member.messages.postRoot(id, { role: 'assistant', content: 'x' })],
        ['post as a system actor', () => service.chat.messages.postRoot(system, id, { content: 'x' })],
        ['edit', () => member.messages.edit(own, { content: 'x' })],
        ['delete', () => member.messages.remove(own, {})],
        ['react', () => member.reactions.add(root, '🎉')],
        ['take a reaction back', () => member.reactions.remove(root, '👍', {})],
        ['pin', () => admin.pins.add(root)],
        ['attach', () => member.attachments.create(id, { name: 'a.txt', size: 1 })],
        ['type', () => member.presence.setTyping({ conversation_id: id, seconds: 5 })],
        ['name a thread', () => owner.threads.setTitle(root, { title: 'x' })],
        ['add', () => owner.participants.add(id, { user_id: guest.id })],
        ['invite', () => owner.invites.create(id, {})],
        ['accept', () => guest.invites.accept({ token: token! })],
        ['change a role', () => owner.participants.changeRole(id, member.id, { role: 'viewer' })],
        ['rename', () => owner.conversations.rename(id, { title: 'x' })],
        ['change the rules', () => admin.conversations.rename(id, { policy: { pin: 'owners' } })],
        ['delete all', () => owner.conversations.remove(id)],
      ]
      for (const [what, act] of refused) expect([what, await refusalOf(act())]).toEqual([what, 'conflict frozen'])

      expect((await member.threads.tree(root, {})).messages).toHaveLength(1)
      await member.conversations.markRead(id, {})
      await admin.messages.remove(own, {})
      await admin.messages.restore(own)
      await admin.reactions.remove(root, '👍', { all: true })
      await admin.participants.remove(id, people.viewer.id)
      await member.participants.remove(id, member.id)
      await owner.conversations.rename(id, { frozen: false, title: 'Thawed' })
      await admin.messages.postRoot(id, { content: 'Again' })
      await guest.invites.accept({ token: token! })
    })
  },
)

describeOnEachDatabase('on two nodes', (openUrl) => {
  let decided = withResolvers()
  let frozen = withResolvers()
  const nodes = setUpNodes(async () =>
    startNodes(await openUrl(), {
      ports: {
        hooks: {
          beforeMessage: async ({ content }) => {
            if (content !== 'late') return
            decided.resolve()
            await frozen.promise
          },
        },
      },
    }),
  )

  describe('a post that was decided before its conversation is frozen', () => {
    it.each(['a thread', 'a reply'])('and would be stored after it is refused: %s', async (what) => {
      decided = withResolvers()
      frozen = withResolvers()
      const [one, other] = nodes
      const { id, root, people } = await makeRoom(one)
      const owner = await other.signIn(`owner-${count}`)
      const post =
        what === 'a thread'
          ? people.member.messages.postRoot(id, { content: 'late' })
          : people.member.messages.reply(root, { content: 'late' })
      const refused = refusalOf(post)
      await decided.promise
      await owner.conversations.rename(id, { frozen: true })
      frozen.resolve()
      expect(await refused).toBe('conflict frozen')
      expect((await people.owner.threads.list(id, {})).threads).toHaveLength(1)
    })

    it('and others at the same time are stored before it, or refused', async () => {
      const [one, other] = nodes
      const { id, people } = await makeRoom(one)
      const owner = await other.signIn(`owner-${count}`)
      await people.member.messages.postRoot(id, { content: 'plain' })
      const posts = Array.from({ length: 20 }, (_, n) => people.member.messages.postRoot(id, { content: `${n}` }))
      const [change, ...results] = await Promise.allSettled([
        owner.conversations.rename(id, { frozen: true }),
        ...posts,
      ])
      expect(change.status).toBe('fulfilled')
      const stored = results.filter(({ status }) => status === 'fulfilled').length
      const { threads } = await people.owner.threads.list(id, {})
      expect(threads).toHaveLength(2 + stored)
      for (const each of results)
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ reason: 'frozen' })
      const { frozen_at } = await people.owner.conversations.get(id)
      for (const { created_at } of threads) expect(created_at < frozen_at!).toBe(true)
    })
  })
})
