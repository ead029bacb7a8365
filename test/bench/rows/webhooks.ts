import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { p99, timeRequest } from '../load/latency.ts'
import { perSecond, WARM_UP_MS } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postSteadily } from '../load/steady.ts'
import { postContent, postTemplate } from '../load/template.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { DATABASES, onEachDatabase, type Running } from '../servers/each-database.ts'
import { createPeople, type Person } from '../servers/people.ts'
import { addIdleWebhooks, addWebhooks, startReceiver } from '../servers/receiver.ts'
import { startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const PER_SECOND = 100

/** The receivers that never answer, and what is under way beside them. */
const HANGING = 100
const UNDER_WAY = 32

/** Those beside a receiver that answers. */
const HANGING_BESIDE = 200

/** The webhooks of users who do not see the posts. */
const OF_OTHERS = 1_000

/** The conversations of the reader whose poll is compared. */
const MANY = 10_000
const FEW = 10

/** From the sending of posts to the first byte of their calls, in milliseconds. */
async function timeCalls(
  { port }: { port: number },
  { root_id, headers, seconds }: { root_id: string; headers: Person['headers']; seconds: number },
  received: { each: (body: string) => void },
): Promise<number[]> {
  const { fail, or } = createFailure()
  const arrived = new Map<number, number>()
  const times: number[] = []
  received.each = (body) => {
    const seq = Number(/\^(\d{8})\$/.exec(body)?.[1])
    if (arrived.has(seq)) fail(new Error('an event was sent twice'))
    arrived.set(seq, performance.now())
  }
  const posted = new Map<number, number>()
  const target = { port, post: postTemplate(`/api/messages/${root_id}/reply`, headers) }
  const posts = postSteadily(target, PER_SECOND, fail, (seq, ms) => posted.set(seq, performance.now() - ms))
  try {
    await or(sleep(WARM_UP_MS + seconds * 1000))
    const sent = await or(posts.stop())
    for (const end = performance.now() + 10_000; arrived.size < sent; ) {
      if (performance.now() > end) throw new Error(`${sent - arrived.size} of ${sent} events were not sent`)
      await or(sleep(20))
    }
    const skipped = (PER_SECOND * WARM_UP_MS) / 1000
    for (const [seq, at] of arrived) if (seq >= skipped) times.push(at - posted.get(seq)!)
    return times
  } finally {
    posts.close()
  }
}

const latency: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `webhook-latency${suffix}`,
  title: `99th percentile from a post, of ${PER_SECOND} a second, to the call of a webhook${on}`,
  unit: 'ms',
  better: 'lower',
  reach: 250,
  beyond: 100,
  unavailable,
  measure: ({ rounds, seconds, command }) =>
    open(async (database) => {
      const { people, places } = await createPeople(database, 1, [[0]])
      const received = { each: (_body: string) => {} }
      const receiver = await startReceiver((body) => received.each(body))
      try {
        await addWebhooks(database, receiver.url, 1)
        const service = await startBareService(command, database, receiver.env)
        const load = { root_id: places[0]!.root_id, headers: people[0]!.headers, seconds: Math.max(seconds, 2) }
        try {
          await timeCalls(service, load, received)
          const measured = []
          for (let round = 0; round < rounds; round++)
            measured.push({ service: p99(await timeCalls(service, load, received)) })
          return measured
        } finally {
          await service.stop()
        }
      } finally {
        receiver.close()
      }
    }),
}))

/** One whose webhooks all hang, and one without. */
const beside: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `posts-hanging${suffix}`,
  title: `posts, ${UNDER_WAY} under way, beside ${HANGING} webhooks whose receivers never answer${on}`,
  unit: '/s',
  peer: 'the same without webhooks',
  better: 'higher',
  reach: 0.95,
  beyond: 0.98,
  unavailable,
  measure: ({ rounds, seconds, command }) =>
    open((database) =>
      open(async (other) => {
        const receiver = await startReceiver(() => {}, { hangs: true })
        try {
          const targets = await Promise.all([database, other].map((each) => replyTarget(each)))
          await addWebhooks(database, receiver.url, HANGING)
          const start = (each: string) => startBareService(command, each, receiver.env)
          return await withServers(start(database), start(other), async (...services) => {
            const measure = (n: number) => postsPerSecond(services[n]!, targets[n]!, seconds)
            return interleaveWarm(
              rounds,
              () => measure(0),
              () => measure(1),
            )
          })
        } finally {
          receiver.close()
        }
      }),
    ),
}))

/** A webhook whose receiver answers, beside many whose receivers hang, and alone. */
const besideHanging: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `webhook-beside-hanging${suffix}`,
  title: `99th percentile from a post, of ${PER_SECOND} a second, to the call of a webhook beside ${HANGING_BESIDE} whose receivers never answer${on}`,
  unit: 'ms',
  peer: 'the same alone',
  better: 'lower',
  reach: 2,
  beyond: 1.2,
  unavailable,
  measure: ({ rounds, seconds, command }) =>
    open((database) =>
      open(async (other) => {
        const hanging = await startReceiver(() => {}, { hangs: true })
        const places = await Promise.all([database, other].map((each) => createPeople(each, 1, [[0]])))
        const received = [0, 1].map(() => ({ each: (_body: string) => {} }))
        const receivers = await Promise.all(received.map((one) => startReceiver((body) => one.each(body))))
        try {
          await addWebhooks(database, hanging.url, HANGING_BESIDE)
          await addWebhooks(database, receivers[0]!.url, 1)
          await addWebhooks(other, receivers[1]!.url, 1)
          const ports = [hanging, ...receivers].map(({ env }) => env.CHAT_OUTGOING__ALLOWED_PORTS).join(',')
          const start = (each: string) =>
            startBareService(command, each, { ...hanging.env, CHAT_OUTGOING__ALLOWED_PORTS: ports })
          return await withServers(start(database), start(other), (...services) => {
            const time = async (n: number) => {
              const { people, places: threads } = places[n]!
              const load = { root_id: threads[0]!.root_id, headers: people[0]!.headers, seconds: Math.max(seconds, 2) }
              return p99(await timeCalls(services[n]!, load, received[n]!))
            }
            return interleaveWarm(
              rounds,
              () => time(0),
              () => time(1),
            )
          })
        } finally {
          for (const each of [hanging, ...receivers]) each.close()
        }
      }),
    ),
}))

/** A service with webhooks of users who see none of its posts, and one without. */
const ofOthers: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `posts-webhooks-of-others${suffix}`,
  title: `posts, ${UNDER_WAY} under way, with ${OF_OTHERS.toLocaleString('en-US')} webhooks of users who do not see them${on}`,
  unit: '/s',
  peer: 'the same without webhooks',
  better: 'higher',
  reach: 0.98,
  beyond: 1,
  unavailable,
  measure: ({ rounds, seconds, command }) =>
    open((database) =>
      open(async (other) => {
        const targets = await Promise.all([database, other].map((each) => replyTarget(each)))
        await addIdleWebhooks(database, OF_OTHERS)
        const start = (each: string) => startBareService(command, each, { CHAT_WEBHOOKS__ENABLED: 'true' })
        return await withServers(start(database), start(other), async (...services) => {
          const measure = (n: number) => postsPerSecond(services[n]!, targets[n]!, seconds)
          return interleaveWarm(
            rounds,
            () => measure(0),
            () => measure(1),
          )
        })
      }),
    ),
}))

/** A new database with two users, of whom the first posts. @returns the request that posts */
async function replyTarget(database: string): Promise<string> {
  const { people, places } = await createPeople(database, 2, [[0]])
  return httpRequest('POST', `/api/messages/${places[0]!.root_id}/reply`, {
    headers: people[0]!.headers,
    body: { content: postContent(0) },
  })
}

async function postsPerSecond({ pid, port }: { pid: number; port: number }, request: string, seconds: number) {
  return perSecond(await repeatRequest({ pid, port, requests: [request] }, UNDER_WAY, seconds))
}

/** The median of the polls of a user without news. */
async function emptyPoll({ port }: Running, { headers }: Person, seconds: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/feed`, { headers })
  const { position } = (await answer.json()) as { position: string }
  const request = httpRequest('GET', `/api/feed?after=${position}`, { headers })
  const times = await timeRequest({ port, request }, seconds)
  return times.toSorted((a, b) => a - b)[times.length >> 1]!
}

const emptyPolls: Row[] = onEachDatabase(async (database, { rounds, seconds }) => {
  const groups = [...Array.from({ length: MANY }, () => [0]), ...Array.from({ length: FEW }, () => [1])]
  const { people } = await createPeople(database, 2, groups)
  const [many, few] = people as [Person, Person]
  return (service) =>
    interleaveWarm(
      rounds,
      () => emptyPoll(service, many, seconds),
      () => emptyPoll(service, few, seconds),
    )
}).map(({ suffix, on, unavailable, measure }) => ({
  name: `feed-empty${suffix}`,
  title: `the feed without news of a user in ${MANY.toLocaleString('en-US')} conversations${on}`,
  unit: 'ms',
  peer: `one in ${FEW}`,
  better: 'lower',
  reach: 1.5,
  beyond: 1.1,
  unavailable,
  measure,
}))

/** What programs cost that learn of events. */
export const webhooks: Row[] = [...latency, ...besideHanging, ...beside, ...ofOthers, ...emptyPolls]
