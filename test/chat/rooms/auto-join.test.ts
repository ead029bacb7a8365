import { beforeAll, expect, it } from 'vitest'
import { lockCandidates } from '../../../lib/chat/memberships/store-auto-join.ts'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, times } from '../../support/service.ts'

describeService(
  'a conversation that users join by themselves',
  { config: { guests: { enabled: true } } },
  (service) => {
    let ada: Person
    let grace: Person
    beforeAll(async () => {
      ada = await service.signIn('ada')
      grace = await service.signIn('grace')
    })

    const settle = () => innerState(service.chat).tasks.settle()
    const room = async (input: object) => (await ada.conversations.create({ title: 'News', ...input })).conversation_id
    const stop = (id: string) => ada.conversations.rename(id, { auto_join: null })
    const people = async (id: string) =>
      (await ada.participants.list(id, { limit: 1000 })).participants.map(({ username }) => username)

    it('has the present users after a task, who are not notified', async () => {
      const id = await room({ auto_join: 'members' })
      expect((await ada.conversations.get(id)).auto_join).toBe('members')
      await settle()
      expect(await people(id)).toEqual(['ada', 'grace'])
      const { participants } = await ada.participants.list(id, {})
      expect(participants.map(({ role }) => role)).toEqual(['owner', 'member'])
      expect((await grace.notifications.list({})).notifications).toEqual([])
      await stop(id)
      expect(await ada.conversations.get(id)).not.toHaveProperty('auto_join')
    })

    it('has new accounts from the start, however they are made, and none twice', async () => {
      const id = await room({ auto_join: 'members' })
      await settle()
      await service.signIn('hedy')
      expect(await people(id)).toContain('hedy')
      await service.chat.users.ensure(OPERATOR, { subject: 'emmy', username: 'emmy' })
      expect(await people(id)).toContain('emmy')
      const { token } = await service.chat.newcomers.invite(OPERATOR, { email: 'rosa@example.org', mail: false })
      await service.client().newcomers.signUp({ token: token!, username: 'rosa', password: PASSWORD })
      expect(await people(id)).toContain('rosa')
      await Promise.all(
        times(5, (n) => service.chat.users.ensure(OPERATOR, { subject: 'sofia', username: `sofia${n}` })),
      )
      const names = await people(id)
      expect(names.filter((name) => name.startsWith('sofia'))).toHaveLength(1)
      expect((await ada.conversations.get(id)).participant_count).toBe(names.length)
      await stop(id)
    })

    it('keeps the role of an invite that the newcomer signs up with', async () => {
      const id = await room({ auto_join: 'members' })
      await settle()
      const { invite } = (await ada.participants.add(id, { email: 'lise@example.org', role: 'admin' })) as {
        invite: { token: string }
      }
      const { token } = invite
      await service.client().invites.accept({ token, username: 'lise', email: 'lise@example.org', password: PASSWORD })
      const { participants } = await ada.participants.list(id, { query: 'lise' })
      expect(participants.map(({ role }) => role)).toEqual(['admin'])
      await stop(id)
    })

    it('has guests only with everyone', async () => {
      const inner = await room({ title: 'Inner', auto_join: 'members' })
      const outer = await room({ title: 'Outer', auto_join: 'everyone' })
      await settle()
      const { user: visitor } = await service.chat.users.ensure(OPERATOR, { subject: 'visitor', roles: ['guest'] })
      expect(await people(outer)).toContain(visitor.username)
      expect(await people(inner)).not.toContain(visitor.username)
      const { user } = await service.chat.guests.create({}, { token: true })
      expect(await people(outer)).toContain(user.username)
      expect(await people(inner)).not.toContain(user.username)
      await ada.conversations.rename(inner, { auto_join: 'everyone' })
      await settle()
      expect(await people(inner)).toContain(visitor.username)
      await stop(inner)
      await stop(outer)
    })

    it('is left for good: neither the task nor a new setting brings users back', async () => {
      const id = await room({ auto_join: 'members' })
      await settle()
      await grace.conversations.leave(id)
      await stop(id)
      await ada.conversations.rename(id, { auto_join: 'everyone' })
      await settle()
      expect(await people(id)).not.toContain('grace')
      await stop(id)
    })

    it('misses no account that is created while it is set', async () => {
      const id = await room({})
      const made = times(20, (n) =>
        service.chat.users.ensure(OPERATOR, { subject: `racer-${n}`, username: `racer-${n}` }),
      )
      await Promise.all([
        ...made.slice(0, 10),
        ada.conversations.rename(id, { auto_join: 'members' }),
        ...made.slice(10),
      ])
      await settle()
      expect((await people(id)).filter((name) => name.startsWith('racer'))).toHaveLength(20)
      await stop(id)
    })

    it('is joined after its freeze by those who came meanwhile', async () => {
      const id = await room({ auto_join: 'members', frozen: true })
      await settle()
      await service.signIn('katherine')
      expect(await people(id)).toEqual(['ada'])
      await ada.conversations.rename(id, { frozen: false })
      await settle()
      expect(await people(id)).toContain('katherine')
      await stop(id)
    })

    it('is made by an administrator who owns it, of a group, at most twenty times', async () => {
      const { conversation_id: own } = await grace.conversations.create({ title: 'Mine' })
      expect(await codeOf(grace.conversations.rename(own, { auto_join: 'members' }))).toBe('forbidden')
      expect(await codeOf(grace.conversations.create({ title: 'x', auto_join: 'members' }))).toBe('forbidden')
      await grace.participants.add(own, { user_id: ada.id, role: 'admin' })
      const change = ada.conversations.rename(own, { auto_join: 'members' })
      await expect(change).rejects.toMatchObject({ code: 'forbidden', reason: 'participant_role', right: 'publish' })
      const { conversation_id: direct } = await ada.conversations.direct({ user_id: grace.id })
      expect(await codeOf(ada.conversations.rename(direct, { auto_join: 'members' }))).toBe('conflict')
      expect(await codeOf(ada.conversations.create({ is_group: false, auto_join: 'members' }))).toBe('conflict')
      const unknown = { auto_join: 'nobody' as never }
      expect(await codeOf(ada.conversations.create(unknown))).toBe('validation_failed')

      const tries = await Promise.allSettled(times(22, () => room({ auto_join: 'members' })))
      const ids = tries.flatMap((tried) => (tried.status === 'fulfilled' ? [tried.value] : []))
      expect(ids).toHaveLength(20)
      const late = await room({})
      expect(await codeOf(ada.conversations.rename(late, { auto_join: 'everyone' }))).toBe('conflict')
      expect((await ada.conversations.rename(ids[0]!, { auto_join: 'everyone' })).auto_join).toBe('everyone')
      await ada.conversations.remove(ids[0]!)
      expect((await ada.conversations.rename(late, { auto_join: 'everyone' })).auto_join).toBe('everyone')
      for (const id of [...ids.slice(1), late]) await stop(id)
    })

    it('finds its users in pages, each once, also where the task begins again', async () => {
      const id = await room({})
      const { db } = innerState(service.chat)
      const read: string[] = []
      for (let after = '', size = 3; ; ) {
        const page = await db.write((tx) => lockCandidates(tx, id, after, size))
        read.push(...page.map((user) => user.id))
        if (page.length === 0) break
        after = page.at(-1)!.id
      }
      expect(new Set(read).size).toBe(read.length)
      await ada.conversations.rename(id, { auto_join: 'everyone' })
      await settle()
      const before = await people(id)
      await ada.conversations.rename(id, { auto_join: 'members' })
      await ada.conversations.rename(id, { auto_join: 'everyone' })
      await settle()
      expect(await people(id)).toEqual(before)
      await stop(id)
    })
  },
)
