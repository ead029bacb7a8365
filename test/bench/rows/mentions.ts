import { httpRequest } from '../load/http.ts'
import { postContent } from '../load/template.ts'
import { timeTogether } from '../load/together.ts'
import { median, type Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { createPeople, numbers, type Person } from '../servers/people.ts'
import { compareCpu } from './compared.ts'

const UNDER_WAY = 32

/** The persons that a post names. */
const NAMED = 50

/** The participants that `@all` notifies. */
const ALL = 1_000

/** The text has the names: the service finds the persons. */
export const mentions = compareCpu(
  {
    name: 'mentions-50',
    title: `CPU of a post that names ${NAMED} persons, ${UNDER_WAY} under way in a conversation`,
    peer: 'the same text without a mention',
    reach: 2,
    beyond: 1.5,
  },
  UNDER_WAY,
  async (database) => {
    const { people, places } = await createPeople(database, NAMED + 1, [numbers(NAMED + 1)])
    const text = (sign: string) => numbers(NAMED).map((n) => `${sign}person-${n + 1}`)
    const post = (sign: string) => [reply(people[0]!, places[0]!.root_id, text(sign).join(' '))]
    return { service: post('@'), peer: post('+') }
  },
)

export const notifyingReply = compareCpu(
  {
    name: 'reply-notifies',
    title: `CPU of a reply to another user's message, which notifies, ${UNDER_WAY} under way`,
    peer: 'a reply to one’s own message',
    reach: 1.3,
    beyond: 1.15,
  },
  UNDER_WAY,
  async (database) => {
    const { people, places } = await createPeople(database, 2, [numbers(2)])
    const post = (author: Person) => [reply(author, places[0]!.root_id, postContent(0))]
    return { service: post(people[1]!), peer: post(people[0]!) }
  },
)

/** What waits for a post that notifies all: itself, another post to its conversation, and one to another conversation. */
const toAll = onEachDatabase(async (database, { rounds, seconds }) => {
  const { people, places } = await createPeople(database, ALL, [numbers(ALL), numbers(2)])
  const [owner, member] = people as [Person, Person]
  const posts = [
    reply(owner, places[0]!.root_id, '@all, look'),
    reply(member, places[0]!.root_id, postContent(0)),
    reply(member, places[1]!.root_id, postContent(0)),
  ]
  return async ({ port }) => {
    await timeTogether(port, posts, seconds)
    const times: number[][] = []
    for (let round = 0; round < rounds; round++) times.push((await timeTogether(port, posts, seconds)).map(median))
    return times
  }
})

const WAITING = [
  { name: 'mention-all', what: 'a post that notifies all', reach: 25, beyond: 15 },
  { name: 'mention-all-here', what: 'another post to a conversation while one notifies all', reach: 25, beyond: 15 },
  {
    name: 'mention-all-elsewhere',
    what: 'a post to another conversation while one notifies all',
    reach: 25,
    beyond: 15,
  },
]

export const mentionAll = toAll.flatMap(({ suffix, on, unavailable, measure }) =>
  WAITING.map(({ name, what, reach, beyond }, n): Row => {
    return {
      name: name + suffix,
      title: `${what} ${ALL.toLocaleString('en-US')} participants${on}`,
      unit: 'ms',
      better: 'lower',
      reach,
      beyond,
      unavailable,
      measure: async (bench) => (await measure(bench)).map((times) => ({ service: times[n]! })),
    }
  }),
)

function reply({ headers }: Person, root_id: string, content: string): string {
  return httpRequest('POST', `/api/messages/${root_id}/reply`, { headers, body: { content } })
}
