import { beforeAll, expect, it } from 'vitest'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, type Person, startService } from '../../support/service.ts'

const PUBLIC = { visibility: 'listed', policy: { join: 'anyone' } } as const

let refused: string | undefined

describeService(
  'a public room',
  async (url) =>
    startService(url, {
      ports: {
        hooks: {
          beforeJoin: ({ user_id }) => (user_id !== undefined && user_id === refused ? { refuse: 'No' } : undefined),
        },
      },
    }),
  (service) => {
    let ada: Person
    let grace: Person
    beforeAll(async () => {
      ada = await service.signIn('ada')
      grace = await service.signIn('grace')
    })

    const titles = async (person: Person, query = {}) =>
      (await person.conversations.directory(query)).conversations.map(({ title }) => title)

    it('is listed by title with what users see of it, and a private one is not', async () => {
      await ada.conversations.create({ title: 'Secret' })
      const { conversation_id } = await ada.conversations.create({
        title: 'engines',
        topic: 'Steam',
        icon: '🚂',
        ...PUBLIC,
      })
      await ada.conversations.create({ title: 'Art of pistons', visibility: 'listed' })
      const { conversations } = await grace.conversations.directory({})
      expect(conversations).toEqual([
        expect.objectContaining({ title: 'Art of pistons', join: 'invite', joined: false }),
        {
          id: conversation_id,
          title: 'engines',
          topic: 'Steam',
          icon: '🚂',
          visibility: 'listed',
          join: 'anyone',
          participant_count: 1,
          joined: false,
        },
      ])
      expect(await titles(grace, { query: 'piston' })).toEqual(['Art of pistons'])
      expect(await codeOf(grace.conversations.get(conversation_id))).toBe('not_found')
      await ada.conversations.rename(conversation_id, { title: 'Zeppelins' })
      expect(await titles(grace)).toEqual(['Art of pistons', 'Zeppelins'])
      await ada.conversations.rename(conversation_id, { visibility: 'private', policy: { join: null } })
      expect(await titles(grace)).toEqual(['Art of pistons'])
    })

    it('has a directory of pages, which repeat and miss nothing', async () => {
      const names = Array.from({ length: 7 }, (_, n) => `Paged ${n % 2 === 0 ? 'x' : 'y'} ${n}`)
      for (const title of names) await ada.conversations.create({ title, visibility: 'listed' })
      const read: string[] = []
      for (let after: string | undefined, more = true; more; more = after !== undefined) {
        const page = await grace.conversations.directory({ query: 'paged', limit: 2, ...(after && { after }) })
        read.push(...page.conversations.map(({ title }) => title))
        after = page.next_after
      }
      expect(read).toEqual(names.toSorted())
      expect(await codeOf(grace.conversations.directory({ after: 'made up' }))).toBe('invalid_cursor')
    })

    it('is joined and left again, by calls that may be repeated', async () => {
      const { conversation_id } = await ada.conversations.create({ title: 'Joined', ...PUBLIC })
      const [one, other] = await Promise.all([
        grace.conversations.join(conversation_id),
        grace.conversations.join(conversation_id),
      ])
      expect(one.conversation.participant_count).toBe(2)
      expect(other.conversation_id).toBe(conversation_id)
      const { conversations } = await grace.conversations.directory({ query: 'joined' })
      expect(conversations).toMatchObject([{ joined: true, participant_count: 2 }])
      expect((await grace.notifications.list({})).notifications).toEqual([])
      await grace.conversations.leave(conversation_id)
      expect(await codeOf(grace.conversations.leave(conversation_id))).toBe('not_found')
      expect(await codeOf(ada.conversations.leave(conversation_id))).toBe('last_owner')
    })

    it('admits no user that its policy, the service or the host refuses', async () => {
      const { conversation_id: invited } = await ada.conversations.create({ title: 'By invite', visibility: 'listed' })
      const { conversation_id: secret } = await ada.conversations.create({ title: 'Secret' })
      const { conversation_id: frozen } = await ada.conversations.create({ title: 'Frozen', frozen: true, ...PUBLIC })
      const { conversation_id: open } = await ada.conversations.create({ title: 'Open', ...PUBLIC })
      const reader = await service.signIn('reader', ['read_only'])
      await expect(grace.conversations.join(invited)).rejects.toMatchObject({ reason: 'policy', right: 'join' })
      await expect(grace.conversations.join(secret)).rejects.toMatchObject({ code: 'not_found' })
      await expect(grace.conversations.join(frozen)).rejects.toMatchObject({ code: 'conflict', reason: 'frozen' })
      await expect(reader.conversations.join(open)).rejects.toMatchObject({ code: 'forbidden', reason: 'role' })
      refused = grace.id
      await expect(grace.conversations.join(open)).rejects.toMatchObject({ code: 'forbidden' })
      refused = undefined
      expect((await ada.conversations.get(open)).participant_count).toBe(1)
    })

    it('is made by owners who are administrators, and is not both private and open to anyone', async () => {
      const { conversation_id } = await grace.conversations.create({ title: 'Mine' })
      const change = grace.conversations.rename(conversation_id, { visibility: 'listed' })
      await expect(change).rejects.toMatchObject({ code: 'forbidden', reason: 'role', right: 'publish' })
      expect(await codeOf(grace.conversations.create({ title: 'x', visibility: 'listed' }))).toBe('forbidden')
      expect(await codeOf(grace.conversations.rename(conversation_id, { policy: { join: 'anyone' } }))).toBe('conflict')
      const { conversation_id: room } = await ada.conversations.create({ title: 'Room', ...PUBLIC })
      expect(await codeOf(ada.conversations.rename(room, { visibility: 'private' }))).toBe('conflict')
      const unknown = { visibility: 'everywhere' as never }
      expect(await codeOf(ada.conversations.rename(room, unknown))).toBe('validation_failed')
      const { conversation_id: direct } = await ada.conversations.direct({ user_id: ada.id })
      expect(await codeOf(ada.conversations.rename(direct, { visibility: 'listed' }))).toBe('conflict')
    })

    it('is joined by a user thirty times at once', async () => {
      const eve = await service.signIn('eve')
      const { conversation_id } = await ada.conversations.create({ title: 'Often', ...PUBLIC })
      for (let n = 0; n < 30; n++) {
        await eve.conversations.join(conversation_id)
        await eve.conversations.join(conversation_id)
        await eve.conversations.leave(conversation_id)
      }
      const late = await eve.conversations.join(conversation_id).catch((error: unknown) => error)
      expect(late).toMatchObject({ code: 'rate_limited' })
    })
  },
)
