import { httpRequest } from '../load/http.ts'
import { timeRequest } from '../load/latency.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { interleaveWarm, median, type Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { createPeople, numbers, withChat } from '../servers/people.ts'

/** Above a hundred, a task notifies them. */
const MANY = 1_000

/** The followers of the threads that the author of a reply has started. */
const FOLLOWERS = [0, 1, 10, MANY] as const

/** Replies one after the other: each is a transaction of its own. */
const ONE = 1

const measured = onEachDatabase(async (database, { rounds, seconds }) => {
  const { people, places } = await createPeople(database, MANY + 1, [numbers(MANY + 1)])
  const author = people[0]!
  const requests = await withChat(database, async (chat) => {
    const owner = await chat.users.actor(author.user_id)
    const roots: string[] = []
    for (const count of FOLLOWERS) {
      const { root_id } = await chat.messages.postRoot(owner, places[0]!.conversation_id, { content: 'Who follows?' })
      for (const { user_id } of people.slice(1, count + 1))
        await chat.threads.follow(await chat.users.actor(user_id), root_id)
      roots.push(root_id)
    }
    const body = { content: postContent(0) }
    return roots.map((root) =>
      httpRequest('POST', `/api/messages/${root}/reply`, { headers: author.headers, body }),
    ) as [string, string, string, string]
  })
  return async (service) => {
    const [none, one, ten, many] = requests
    const cpu = (request: string) => async () =>
      cpuMicros(await repeatRequest({ ...service, requests: [request] }, ONE, seconds))
    const time = async () => median(await timeRequest({ port: service.port, request: many }, seconds))
    const ratios = {
      one: await interleaveWarm(rounds, cpu(one), cpu(none)),
      ten: await interleaveWarm(rounds, cpu(ten), cpu(none)),
    }
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(await time())
    return { ...ratios, many: times.map((ms) => ({ service: ms })) }
  }
})

/** What a reply costs for those who follow its thread: unread counts, lists and notifications. */
export const followers: Row[] = measured.flatMap(({ suffix, on, unavailable, measure }) => {
  const row = (key: 'one' | 'ten' | 'many', name: string, rest: Omit<Row, 'name' | 'measure' | 'better'>): Row => ({
    ...rest,
    name: name + suffix,
    title: rest.title + on,
    better: 'lower',
    unavailable,
    measure: async (bench) => (await measure(bench))[key],
  })
  const peer = 'none'
  return [
    row('one', 'reply-followers', { title: 'CPU of a reply, 1 follower', peer, unit: 'µs', reach: 1.3, beyond: 1.15 }),
    row('ten', 'reply-followers-10', {
      title: 'CPU of a reply, 10 followers',
      peer,
      unit: 'µs',
      reach: 2.5,
      beyond: 1.5,
    }),
    row('many', 'reply-followers-1000', { title: 'a reply, 1,000 followers', unit: 'ms', reach: 100, beyond: 25 }),
  ]
})
