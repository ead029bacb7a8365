import { expect, it } from 'vitest'
import type { ConversationAct } from '../../../lib/chat/conversations/schema.ts'
import type { ChatError } from '../../../lib/core/errors.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { type Person, startService, type TestService } from '../../support/service.ts'

const ROLES = ['owner', 'admin', 'moderator', 'member', 'viewer'] as const

/** Whether rights let a call pass; other refusals are no matter of rights. */
async function passes(call: Promise<unknown>): Promise<boolean> {
  const error = await call.then(
    () => undefined,
    (cause: ChatError) => cause,
  )
  if (error && !error.reason) throw error
  return !error
}

let count = 0

interface Room {
  id: string
  owner: Person
  /** A message that another participant has posted. */
  message_id: () => Promise<string>
}

async function makeRoom(service: TestService, is_group = true): Promise<Room> {
  const owner = await service.signIn(`owner-${++count}`, ['admin'])
  const { conversation_id: id } = await owner.conversations.create({ title: 'Engines', is_group })
  const system = await service.chat.system('poster')
  const message_id = async () => (await service.chat.messages.postRoot(system, id, { content: 'text' })).message_id
  return { id, owner, message_id }
}

/** An attempt of each act, which leaves the room as it was. */
function attempts(service: TestService, { id, owner, message_id }: Room, person: Person, role: string) {
  const { conversations, messages, participants } = person
  return {
    post: () => messages.postRoot(id, { content: 'x' }),
    reply: async () => messages.reply(await message_id(), { content: 'x' }),
    react: async () => person.reactions.add(await message_id(), '👍'),
    attach: () => person.attachments.create(id, { name: 'a.txt', size: 1 }),
    pin: async () => person.pins.add(await message_id()),
    ask: async () => {
      const { message_id: asked } = await messages
        .postRoot(id, { role: 'assistant', content: 'x' })
        .catch(async (error: ChatError) => {
          if (error.reason !== 'policy') throw error
          return messages.reply(await message_id(), { role: 'assistant', content: 'x' })
        })
      await service.chat.messages.remove(OPERATOR, asked, {}).catch(() => {})
    },
    moderate: async () => messages.remove(await message_id(), {}),
    add: async () => participants.add(id, { user_id: (await service.signIn(`new-${++count}`)).id, role: 'viewer' }),
    invite: () => person.invites.create(id, { role: 'viewer' }),
    manage: () => participants.changeRole(id, person.id, { role }),
    policy: () => conversations.rename(id, { topic: 'x' }),
    rename: () => conversations.rename(id, { title: 'Engines' }),
    publish: () => conversations.rename(id, { visibility: 'private' }),
    freeze: async () => {
      const { frozen_at } = await owner.conversations.get(id)
      await conversations.rename(id, { frozen: frozen_at !== undefined })
    },
    mention_all: async () => {
      const mentions = { all: true }
      await messages.postRoot(id, { content: 'x', mentions }).catch(async (error: ChatError) => {
        if (error.reason !== 'policy' || error.right === 'mention_all') throw error
        await messages.reply(await message_id(), { content: 'x', mentions })
      })
    },
  } satisfies Partial<Record<ConversationAct, () => Promise<unknown>>>
}

const POLICIES = [
  {},
  { post: 'admins', reply: 'nobody', react: 'everyone' },
  { post: 'nobody', reply: 'everyone', pin: 'moderators', mention_all: 'everyone', attach: 'owners' },
  { add: 'members', invite: 'moderators', react: 'nobody', mention_all: 'nobody' },
] as const

describeService(
  'what a conversation says that its caller may do',
  async (url) => startService(url, { config: { attachments: await filesInFolder() } }),
  (service) => {
    it.each(POLICIES)('is what passes, and nothing else, with the policy %j', async (policy) => {
      const room = await makeRoom(service)
      const { id, owner } = room
      const others: [string, Person][] = []
      for (const role of ROLES.slice(1)) {
        const person = await service.signIn(`${role}-${++count}`)
        await owner.participants.add(id, { user_id: person.id, role })
        others.push([role, person])
      }
      await owner.conversations.rename(id, { policy })
      for (const frozen of [false, true]) {
        if (frozen) await owner.conversations.rename(id, { frozen })
        for (const [role, person] of [['owner', owner] as const, ...others]) {
          const { can } = await person.conversations.get(id)
          const [listed] = (await person.conversations.list({})).conversations
          expect(listed).toMatchObject({ id, can })
          const tried = attempts(service, room, person, role)
          // A room that is frozen takes no message to try with.
          const acts = Object.keys(tried).filter(
            (act) => !frozen || !['reply', 'react', 'pin', 'moderate'].includes(act),
          )
          for (const act of acts as (keyof typeof tried)[])
            expect([role, frozen, act, await passes(tried[act]())]).toEqual([role, frozen, act, can.includes(act)])
          if (frozen) expect(can.filter((act) => act !== 'freeze' && act !== 'moderate')).toEqual([])
          expect(can.includes('delete')).toBe(role === 'owner' && !frozen)
        }
      }
    })

    it('is little in a direct conversation, and less once the other person has no active account', async () => {
      const { id, owner: ada } = await makeRoom(service)
      const grace = await service.signIn('grace')
      await ada.participants.add(id, { user_id: grace.id })
      const { conversation } = await ada.conversations.direct({ user_id: grace.id })
      const both = ['post', 'react', 'attach', 'pin', 'ask', 'moderate', 'policy', 'reply', 'mention_all']
      expect(conversation.can).toEqual(both)
      await ada.users.change(grace.id, { disabled: true })
      expect((await ada.conversations.get(conversation.id)).can).toEqual(['moderate', 'policy'])
      const { conversations } = await ada.conversations.list({ section: 'direct' })
      expect(conversations.map(({ can }) => can)).toEqual([['moderate', 'policy']])
    })

    it('names no more people where two are all', async () => {
      const { id, owner } = await makeRoom(service, false)
      expect((await owner.conversations.get(id)).can).toEqual(expect.arrayContaining(['add', 'invite']))
      await owner.participants.add(id, { user_id: (await service.signIn(`second-${count}`)).id })
      const { can } = await owner.conversations.get(id)
      expect(can).not.toEqual(expect.arrayContaining(['add']))
      expect(can).not.toEqual(expect.arrayContaining(['invite']))
    })

    it('is nothing for a user who may only read, and for a token that only reads', async () => {
      const { id, owner } = await makeRoom(service)
      const reader = await service.signIn(`reader-${count}`, ['read_only'])
      await owner.participants.add(id, { user_id: reader.id, role: 'owner' })
      expect((await reader.conversations.get(id)).can).toEqual([])
      const { token } = await owner.tokens.issue({ scopes: ['read'] })
      const response = await fetch(`${service.base_url}/api/conversations/${id}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await response.json()).toMatchObject({ can: [] })
    })
  },
)
