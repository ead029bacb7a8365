import { setImmediate as turn } from 'node:timers/promises'
import { contextOf } from '../../../lib/core/context-of.ts'
import { type Actor, type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { cpuSeconds } from '../machine.ts'
import { progress } from '../report.ts'
import { type Bench, interleaveWarm, type Row } from '../row.ts'
import { DATABASES, onEachDatabase } from '../servers/each-database.ts'
import { addReplies, createPeople, numbers, type Person, withChat } from '../servers/people.ts'
import { positionOf } from '../servers/receiver.ts'
import { urlOf } from '../servers/service.ts'

/** The pieces of a text that is streamed. */
const CHUNKS = numbers(200).map((n) => `piece ${n} `)

/** As a model says them: others have their turn in between. */
async function* say(): AsyncGenerator<string> {
  for (const chunk of CHUNKS) {
    await turn()
    yield chunk
  }
}

/** Streams a text as a bot. */
async function streamAsBot(chat: Chat, bot: Actor, conversation_id: string): Promise<void> {
  const stream = await chat.messages.stream(bot, conversation_id)
  for await (const chunk of say()) await stream.write(chunk)
  assertWhole(await stream.end())
}

/** Has the assistant answer with the same text. */
async function answer(chat: Chat, person: Actor, conversation_id: string): Promise<void> {
  const { message_id } = await chat.messages.postRoot(person, conversation_id, { content: 'Go on', role: 'assistant' })
  await contextOf(chat).answers.idle()
  assertWhole(await chat.messages.get(person, message_id))
}

function assertWhole({ status, content }: { status: string; content: string }): void {
  if (status !== 'complete' || content !== CHUNKS.join('')) throw new Error(`a text is ${status}, or lacks a piece`)
}

/** A text of a bot beside an answer of the assistant, both written by this process. */
const botStream: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `bot-stream${suffix}`,
  title: `CPU of a text of ${CHUNKS.length} pieces that a bot streams${on}`,
  unit: 'ms',
  peer: 'an answer of the assistant of the same pieces',
  better: 'lower',
  reach: 1.1,
  beyond: 1,
  unavailable,
  measure: ({ rounds, seconds }) =>
    open(async (database, pids) => {
      const { people, places } = await createPeople(database, 1, [[0]])
      const storage = await openStorage({ database: urlOf(database) })
      const config = parseConfig({ bots: { enabled: true, messages_per_min: 1_000_000 } })
      const chat = createChatService(config, storage, { assistant: say })
      try {
        await chat.start({ background: false })
        const person = await chat.users.actor(people[0]!.user_id)
        const { conversation_id } = places[0]!
        const { bot } = await chat.bots.create(OPERATOR, { username: 'crier', owner_id: person.user_id })
        await chat.participants.add(person, conversation_id, { user_id: bot.id })
        const actor = await chat.users.actor(bot.id)
        const cpu = (write: () => Promise<void>) => cpuMillis(pids, seconds, write)
        return await interleaveWarm(
          rounds,
          () => cpu(() => streamAsBot(chat, actor, conversation_id)),
          () => cpu(() => answer(chat, person, conversation_id)),
        )
      } finally {
        await chat.close()
      }
    }),
}))

/** The CPU of this process and of the database for a call, in milliseconds. */
async function cpuMillis(pids: number[], seconds: number, call: () => Promise<void>): Promise<number> {
  const used = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e3 + pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0) * 1e3
  }
  const before = used()
  let calls = 0
  for (const end = performance.now() + seconds * 1000; performance.now() < end; calls++) await call()
  return (used() - before) / calls
}

/** A hook takes 30 posts at once, and then one a second: there are enough for all rounds. */
const HOOK_PLACES = 40
const HOOKS_EACH = 20

/** Posts under way: more would need more hooks. */
const UNDER_WAY = 4

async function addHooks(chat: Chat, actor: Actor, conversationIds: string[]): Promise<string[]> {
  const paths: string[] = []
  for (let n = 0; n < HOOKS_EACH; n++)
    for (const id of conversationIds) {
      const { url } = await chat.hooks.create(actor, id, { name: `Hook ${n}` })
      paths.push(url.slice(url.indexOf('/api/hooks/')))
    }
  return paths
}

/** What a tool posts at its address beside what a program posts with a key. */
const hookPosts: Row[] = onEachDatabase(async (database, { rounds, seconds }) => {
  const groups = numbers(HOOK_PLACES).map(() => [0])
  const { people, places } = await createPeople(database, 1, groups)
  const ids = places.map(({ conversation_id }) => conversation_id)
  const { paths, key } = await withChat(
    database,
    async (chat) => {
      const actor = await chat.users.actor(people[0]!.user_id)
      const { key } = await chat.keys.create(actor, { name: 'bench' })
      return { paths: await addHooks(chat, actor, ids), key }
    },
    { hooks: { enabled: true } },
  )
  const body = { content: postContent(0) }
  const byHook = paths.map((path) => httpRequest('POST', path, { body }))
  const headers = { authorization: `Bearer ${key}` }
  const byKey = ids.map((id) => httpRequest('POST', `/api/threads/${id}/root`, { headers, body }))
  return ({ port, pid }) => {
    let sent = 0
    const cpu = async (requests: string[]) => {
      const next = () => requests[sent++ % requests.length]!
      return cpuMicros(await repeatRequest({ pid, port, requests: next }, UNDER_WAY, seconds))
    }
    return interleaveWarm(
      rounds,
      () => cpu(byHook),
      () => cpu(byKey),
    )
  }
}).map(({ suffix, on, unavailable, measure }) => ({
  name: `hook-posts${suffix}`,
  title: `CPU of a post to an incoming hook${on}`,
  unit: 'µs',
  peer: 'a post with an API key',
  better: 'lower',
  reach: 1.1,
  beyond: 1,
  unavailable,
  measure,
}))

/** What is read after a position, and for short rounds (`--quick`). */
const EVENTS = 100_000
const QUICK_EVENTS = 5_000
const QUICK_SECONDS = 1

function eventsOf({ seconds }: Bench): number {
  if (seconds > QUICK_SECONDS) return EVENTS
  progress(`  of ${QUICK_EVENTS.toLocaleString('en-US')} events only`)
  return QUICK_EVENTS
}

/** Events a second of the pages of the feed. */
async function readFeed(port: number, { headers }: Person, from: string, count: number): Promise<number> {
  const began = performance.now()
  let read = 0
  for (let after = from; ; ) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/feed?after=${after}&limit=1000`, { headers })
    const page = (await answer.json()) as { events: object[]; position: string; more?: true; reset?: object }
    if (!answer.ok || page.reset)
      throw new Error(`the feed was answered ${answer.status} ${JSON.stringify(page.reset)}`)
    read += page.events.length
    if (!page.more) break
    after = page.position
  }
  if (read !== count) throw new Error(`the feed had ${read} of ${count} events`)
  return count / ((performance.now() - began) / 1000)
}

/** What each event begins with in a stream. */
const BEGINNING = 'event: message.new\n'

/** Events a second of a stream that resumes at the same position. */
async function readStream(port: number, { headers }: Person, from: string, count: number): Promise<number> {
  const ending = new AbortController()
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/api/stream`, {
    headers: { ...headers, accept: 'text/event-stream', 'last-event-id': from },
    signal: ending.signal,
  })
  let read = 0
  let tail = ''
  for await (const bytes of answer.body!) {
    const pieces = (tail + Buffer.from(bytes).toString('latin1')).split(BEGINNING)
    read += pieces.length - 1
    tail = pieces.at(-1)!.slice(1 - BEGINNING.length)
    if (read >= count) break
  }
  ending.abort()
  if (read !== count) throw new Error(`the stream had ${read} of ${count} events`)
  return count / ((performance.now() - began) / 1000)
}

/** Reading what came since a position, by the feed and by a stream that resumes there. */
const feedRead: Row[] = onEachDatabase(async (database, bench) => {
  const count = eventsOf(bench)
  const { people, places } = await createPeople(database, 2, [[0, 1]])
  const [author, reader] = people as [Person, Person]
  const from = await withChat(database, (chat) => positionOf(chat, reader.user_id))
  await addReplies(database, author, places[0]!, count)
  return ({ port }) =>
    interleaveWarm(
      bench.rounds,
      () => readFeed(port, reader, from, count),
      () => readStream(port, reader, from, count),
    )
}).map(({ suffix, on, unavailable, measure }) => ({
  name: `feed-read${suffix}`,
  title: `events a second of the feed, of ${EVENTS.toLocaleString('en-US')} after a position${on}`,
  unit: '/s',
  peer: 'a stream that resumes there',
  better: 'higher',
  reach: 0.8,
  beyond: 1,
  unavailable,
  measure,
}))

/** What programs do: they write, are posted to, and read. */
export const programs: Row[] = [...botStream, ...hookPosts, ...feedRead]
