import { beforeAll, expect, it } from 'vitest'
import type { Sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { recorded } from '../../support/recorded.ts'
import { type Person, times } from '../../support/service.ts'

const read: Sql[] = []

describeService(
  'users out of reach',
  {
    config: { access: { find_users: 'shared', add_people: 'shared', open_direct: 'shared' } },
    wrap: recorded((sql) => void read.push(sql)),
  },
  (service) => {
    let ada: Person
    let conversation_id: string
    beforeAll(async () => {
      await service.signIn('root')
      ada = await service.signIn('ada')
      await Promise.all(times(5, (n) => service.signIn(`quentin${n}`)))
      const grace = await service.signIn('grace')
      conversation_id = (await grace.conversations.create({ title: 'Machines' })).conversation_id
      const { token } = await grace.invites.create(conversation_id)
      await ada.invites.accept({ token: token! })
      await grace.messages.postRoot(conversation_id, { content: 'hi' })
    })

    /** The statements of a call, without their values. */
    async function statementsOf(call: () => Promise<unknown>): Promise<string[]> {
      await service.idle()
      read.length = 0
      await call().catch(() => {})
      // The service looks for other processes, for what is new, and for names and counts to store, beside the call.
      return read
        .map(({ text }) => text)
        .filter(
          (text) =>
            /FROM (users|user_words|participants|conversations|search_)/.test(text) &&
            !/search_changes|words_of|is_counted/.test(text),
        )
    }

    it('cost the statements that users cost who do not exist: by their number and their names nobody tells them', async () => {
      const calls: ((name: string) => Promise<unknown>)[] = [
        (query) => ada.users.search({ query }),
        (query) => ada.users.search({ query, for: 'direct' }),
        (from) => ada.search.messages({ q: 'hi', from }),
        (from) => ada.search.messages({ q: 'hi', from: `@${from}` }),
        (username) => ada.conversations.direct({ username }),
      ]
      for (const call of calls) {
        const [some, none] = [await statementsOf(() => call('quentin1')), await statementsOf(() => call('nix'))]
        expect(some.length).toBeGreaterThan(0)
        expect(some).toEqual(none)
      }
      expect((await ada.users.search({ query: 'quentin' })).users).toEqual([])
      expect((await ada.users.search({ query: 'grac' })).users.map(({ username }) => username)).toEqual(['grace'])
      expect((await ada.search.messages({ q: 'hi', from: '@grace' })).results).toHaveLength(1)
    })
  },
)
