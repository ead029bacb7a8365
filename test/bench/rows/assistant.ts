import { contextOf } from '../../../lib/core/context-of.ts'
import { type Assistant, type Chat, defineTool, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { fillApprovals } from '../filled/approvals.ts'
import { fillUsage } from '../filled/usage.ts'
import { clientsFor, whileAnswering } from '../load/answers.ts'
import { p99 } from '../load/latency.ts'
import { cpuSeconds } from '../machine.ts'
import type { Bench, Round, Row } from '../row.ts'
import { startModel } from '../servers/peers.ts'
import { withChat } from '../servers/people.ts'
import { startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'
import { assistantAt } from './answers.ts'
import { libraryRows, type MeasuredRoom } from './library.ts'
import { inBatches, medianMs, messagesOf, type Room } from './reads.ts'

/** How many answers of a user are under way at once, by default. */
const UNDER_WAY = 3

/** What the model is asked to do. */
const PLAIN = 'plain'
const EMPTY = 'empty'
const LONG = 'long'

/** The answers of a thread, and what each of their calls returns. */
const ANSWERS = 200
const OUTPUTS = 5
const OUTPUT_LENGTH = 32 * 1024 - 200

/** Calls tools in its first step if the question says so, and then says a word. */
const assistant: Assistant = async function* ({ step, turns }) {
  const asked = step === 1 ? turns.at(-1)!.content : PLAIN
  const calls = asked === EMPTY ? 1 : asked === LONG ? OUTPUTS : 0
  for (let n = 0; n < calls; n++) yield { tool_call: { name: asked, input: { n } } }
  if (calls === 0) yield 'So it is.'
}

const input = {
  json_schema: { type: 'object' },
  validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
}

const TOOLS = {
  settings: { assistant: { tools: [EMPTY, LONG] } },
  ports: {
    assistant,
    tools: {
      [EMPTY]: defineTool({ description: 'Does nothing', input, run: () => null }),
      [LONG]: defineTool({ description: 'Returns much', input, run: () => 'x'.repeat(OUTPUT_LENGTH) }),
    },
  },
}

/** Asks the assistant of a service. @returns a function that resolves with the end of the answer */
export function createAsking({ author, conversationId }: Room, chat: Chat): (content: string) => Promise<string> {
  const early = new Set<string>()
  const waiting = new Map<string, () => void>()
  chat.on('message.done', ({ payload: { message_id } }) => {
    const resolve = waiting.get(message_id)
    if (!resolve) return void early.add(message_id)
    waiting.delete(message_id)
    resolve()
  })
  return async (content) => {
    const { message_id } = await chat.messages.postRoot(author, conversationId, { content, role: 'assistant' })
    if (!early.delete(message_id)) await new Promise<void>((resolve) => waiting.set(message_id, resolve))
    return message_id
  }
}

/** Does something as often as answers may be under way, at once. */
export const together = (call: () => Promise<unknown>) => async () =>
  void (await Promise.all(Array.from({ length: UNDER_WAY }, call)))

/** What a step with a tool that does nothing costs beyond the same answer without. */
const steps = libraryRows(
  [
    {
      name: 'tool-step',
      title: 'CPU of a step with a tool that does nothing',
      peer: 'three posts',
      unit: 'ms',
      better: 'lower',
      reach: 2,
      beyond: 1.2,
    },
  ],
  async (room) => {
    const { chat, author, conversationId, compare } = room
    const ask = createAsking(room, chat)
    const post = () => chat.messages.postRoot(author, conversationId, { content: 'So it is.' })
    // One after the other, each with its own commit, as those of a step.
    const posts = async () => {
      for (let n = 0; n < 3; n++) await post()
    }
    const asked = await compare(
      async () => void (await ask(EMPTY)),
      async () => void (await ask(PLAIN)),
    )
    const posted = await compare(posts, posts)
    const { count } = (await contextOf(chat).db.get<{ count: number }>(
      sql`SELECT count(*) AS count FROM tool_calls WHERE state = 'done'`,
    ))!
    if (Number(count) === 0) throw new Error('no tool has run')
    return {
      'tool-step': asked.map(({ service, peer }, n) => ({ service: service - peer!, peer: posted[n]!.service })),
    }
  },
  TOOLS,
)

/** A page of answers whose calls have returned much: it has the beginning of each output. */
const trees = libraryRows(
  [
    {
      name: 'tree-outputs',
      title: `CPU of a page of ${ANSWERS} answers, each with ${OUTPUTS} outputs of 32 KiB`,
      peer: 'the same without tools',
      unit: 'ms',
      better: 'lower',
      reach: 6,
      beyond: 3,
    },
  ],
  async ({ chat, author, reader, conversationId, compare }) => {
    const threadOf = async (content: string) => {
      const { root_id } = await chat.messages.postRoot(author, conversationId, { content: 'Go on' })
      const ask = async () => {
        const reply = { content, role: 'assistant' } as const
        const { message_id } = await chat.messages.reply(author, root_id, reply)
        return message_id
      }
      for (let n = 0; n < ANSWERS - 1; n += UNDER_WAY) {
        await Promise.all(Array.from({ length: Math.min(UNDER_WAY, ANSWERS - 1 - n) }, ask))
        await chat.idle()
      }
      return root_id
    }
    const read = (root_id: string, parts: number) => async () => {
      const { messages } = await chat.threads.tree(reader, root_id, { limit: ANSWERS })
      const ended = messages.filter(({ status }) => status === 'complete')
      if (ended.length !== ANSWERS || (messages.at(-1)!.parts?.length ?? 0) < parts)
        throw new Error('the page lacks answers')
    }
    return { 'tree-outputs': await compare(read(await threadOf(LONG), OUTPUTS), read(await threadOf(PLAIN), 0)) }
  },
  TOOLS,
)

/** Quotas that are never used up, on the same database. */
const QUOTAS = {
  quotas: (['day', 'month'] as const).flatMap((period) =>
    ['*', 'service'].map((role) => ({ role, period, answers: 1_000_000_000, tokens: 1_000_000_000_000 })),
  ),
}

const quotas = libraryRows(
  [
    {
      name: 'ask-quotas',
      title: 'CPU of a question and its answer, with quotas of a user and of all, in a day and a month',
      peer: 'without quotas',
      unit: 'ms',
      better: 'lower',
      reach: 1.5,
      beyond: 1.2,
    },
  ],
  (room) =>
    withChat(
      room.file,
      async (limited) => {
        const [ask, askFreely] = [createAsking(room, limited), createAsking(room, room.chat)]
        const rounds = await room.compare(
          together(() => ask('Why?')),
          together(() => askFreely('Why?')),
        )
        return { 'ask-quotas': rounds }
      },
      { usage: QUOTAS },
    ),
)

/** Of a year that begins and ends within a month: days and months are added up. */
const report = libraryRows(
  [
    {
      name: 'usage-report',
      title: 'the report by user of 13 months, 1,000,000 answers, of another user or day each',
      unit: 'ms',
      better: 'lower',
      reach: 200,
      beyond: 50,
    },
  ],
  async (room) => {
    const { users } = await fillUsage(contextOf(room.chat).db, messagesOf(room.bench))
    const read = async () => {
      const page = await room.chat.usage.report(OPERATOR, { by: 'user', from: '2025-01-15', to: '2026-02-14' })
      if (page.rows.length !== Math.min(users, 50)) throw new Error(`${page.rows.length} rows`)
    }
    return { 'usage-report': await inRounds(room, () => medianMs(room.bench, read)) }
  },
)

const ROOMS = 1_000
const CALLS = 10

/** The calls of a round, for a 99th percentile. */
const LEAST = 100

/** Open approvals in many conversations, for an owner who may decide on all of them, and a member who may on none. */
const approvals = libraryRows(
  (['approvals-mine', 'approvals-mine-none'] as const).map((name) => ({
    name,
    title: `99th percentile of the approvals on which a user may decide, of ${ROOMS * CALLS} in ${ROOMS} conversations: ${name === 'approvals-mine' ? 'all' : 'none'}`,
    unit: 'ms',
    better: 'lower',
    reach: 20,
    beyond: 5,
  })),
  async (room) => {
    const { chat, author, reader } = room
    const rooms = await inBatches(Array.from({ length: ROOMS }), async () => {
      const { conversation_id } = await chat.conversations.create(author, { title: 'Open' })
      await chat.participants.add(author, conversation_id, { user_id: reader.user_id })
      return conversation_id
    })
    await fillApprovals(contextOf(chat).db, { rooms, calls: CALLS, asker: author.user_id })
    const timesOf = (actor: typeof author, expected: number) => async () => {
      const times: number[] = []
      for (
        const end = performance.now() + room.bench.seconds * 1000;
        performance.now() < end || times.length < LEAST;
      ) {
        const began = performance.now()
        const page = await chat.approvals.list(actor, { mine: true })
        times.push(performance.now() - began)
        if (page.approvals.length !== expected) throw new Error(`${page.approvals.length} approvals`)
      }
      return p99(times)
    }
    return {
      'approvals-mine': await inRounds(room, timesOf(author, 50)),
      'approvals-mine-none': await inRounds(room, timesOf(reader, 0)),
    }
  },
)

/** The figures of the rounds, after one that is not counted. */
async function inRounds({ bench }: MeasuredRoom, measure: () => Promise<number>): Promise<Round[]> {
  await measure()
  const rounds: Round[] = []
  for (let round = 0; round < bench.rounds; round++) rounds.push({ service: await measure() })
  return rounds
}

const LOAD = { answers: 20, tokens: 100, readers: 5 }

/** What the text of answers costs, for `--against`: without tools it is to cost what it cost before. */
const deltas: Row = {
  name: 'answers-cpu',
  title: `CPU of 1,000 tokens while ${LOAD.answers} answers stream ${LOAD.tokens} a second each`,
  unit: 'ms',
  better: 'lower',
  reach: 300,
  beyond: 225,
  measure({ rounds, seconds, command }: Bench) {
    const model = startModel()
    const answering = model.then(({ port }) => startService(command, assistantAt(port)))
    return withServers(answering, model, async (service) => {
      const clients = await clientsFor(service, LOAD.answers)
      const measure = async () => {
        const before = cpuSeconds(service.pid)
        const began = performance.now()
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
        const tokens = ((performance.now() - began) / 1000) * LOAD.answers * LOAD.tokens
        return ((cpuSeconds(service.pid) - before) * 1e6) / tokens
      }
      const round = () => whileAnswering(service, clients, LOAD, measure)
      await round()
      const measured: Round[] = []
      for (let n = 0; n < rounds; n++) measured.push({ service: await round() })
      return measured
    })
  },
}

export const assistantRows: Row[] = [deltas, ...steps, ...trees, ...quotas, ...report, ...approvals]
