import { type AdminClient, createAdminClient } from '../../lib/client/admin.ts'
import type { ChatClient, Message } from '../../lib/client/index.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { differencesIn, faultsIn, untilEnded, untilWritten } from './answer-checks.ts'
import { seqOf, startFollowers } from './followers.ts'
import { inconsistenciesIn } from './invariants.ts'
import { startNodes } from './nodes.ts'
import { settle, signInAt } from './people.ts'
import { ASKS_HOST, faultsOfText, streamByCalls } from './streams.ts'
import { MANNERS, startUpstream } from './upstream.ts'

/** A service that is killed again and again while it writes answers. */
export interface AnswerCrashOptions {
  /** An empty database. */
  url: string
  /**
   * 1: it is started again, and ends them. 2: another process ends them, which keeps running and serves the readers.
   */
  nodes: 1 | 2
  cycles: number
  random: () => number
  onCycle?: (figures: AnswerCrashFigures) => void
}

/** The result of a run. */
export interface AnswerCrashFigures {
  cycles: number
  interrupted: number
  complete: number
  /** The texts that programs wrote meanwhile: by calls, which go on, and in the process that is killed. */
  texts: number
  /** Those of them that were interrupted. */
  texts_interrupted: number
  /** The maximum time until answers were ended, from a kill on. */
  slowest_ms: number
  /** The number of reconnects of readers. */
  reconnects: number
  /** The number of delivered events, over all readers. */
  events: number
  /** Failures: answers without an end or with another text, gaps and repeats, connections left open. */
  faults: string[]
}

const READERS = 3

/** The number of answers of each kind per cycle. */
const EACH = 2

/** The maximum number of chunks before a kill: half a second's worth, when all answers are in progress. */
const MAX_PIECES = 500

/** Kills the service at random moments during answers, and checks how they end. */
export async function crashAnswers(options: AnswerCrashOptions): Promise<AnswerCrashFigures> {
  const upstream = await startUpstream(options.random)
  const many = { max_running_per_user: 1000, max_running: 1000 }
  // Who asks is no part of what the model server is sent: it finds its texts by the prompts.
  const assistant = { provider: 'openai', base_url: upstream.url, model: 'tiny', names: 'never', ...many }
  const bots = { enabled: true, messages_per_min: 10_000, max_streaming: 100 }
  const sse = { max_streams_per_user: 1000 }
  const nodes = await startNodes(options.url, options.nodes, { assistant, bots, sse })
  try {
    return await crashOn({ ...options, upstream, nodes })
  } finally {
    await nodes.stop()
    await upstream.close()
  }
}

type Stage = Omit<AnswerCrashOptions, 'nodes'> & {
  upstream: Awaited<ReturnType<typeof startUpstream>>
  nodes: Awaited<ReturnType<typeof startNodes>>
}

async function crashOn({ url, upstream, nodes, cycles, random, onCycle }: Stage): Promise<AnswerCrashFigures> {
  const { conversation_id, signIn, cookie } = await settle(nodes.first)
  const [asker, watcher] = [await signIn(), await signInAt(nodes.last)]
  const position = async () => (await watcher.conversations.get(conversation_id)).stream_position!
  const from = await position()
  const reading = { conversation_id, cookie: await cookie(), target: nodes.reachable }
  const cutAfter = () => Math.floor(2 ** (9 + random() * 7))
  const followers = startFollowers({ ...reading, from, readers: READERS, cutAfter })
  const figures = { cycles: 0, interrupted: 0, complete: 0, slowest_ms: 0, reconnects: 0, events: 0 }
  const texts = { texts: 0, texts_interrupted: 0 }
  const bots = await makeBot(asker, conversation_id, [nodes.first, nodes.last])
  const faults: string[] = []
  const answers: Message[] = []

  /** Asks, kills during the answers, and waits until another process has ended them. */
  async function cycle(): Promise<void> {
    const { root_id } = await watcher.messages.postRoot(conversation_id, { content: 'root' })
    const killed = new Promise<number>((resolve, reject) =>
      upstream.after(1 + Math.floor(random() * MAX_PIECES), () => nodes.kill().then(resolve, reject)),
    )
    const names = Array.from({ length: EACH }, (_, n) => `${figures.cycles}.${n}`)
    const written = Promise.all(names.map((name) => streamByCalls(bots, root_id, name)))
    written.catch(() => {})
    const [at] = await Promise.all([
      killed,
      askAll(asker, root_id, figures.cycles),
      ...names.map((name) => unlessCut(asker.messages.reply(root_id, { content: `${ASKS_HOST}${name}` }))),
    ])
    const isAlone = nodes.first === nodes.last
    if (isAlone) await nodes.restart()
    const ended = await untilEnded(watcher, root_id, at)
    figures.slowest_ms = Math.max(figures.slowest_ms, performance.now() - at)
    for (const answer of ended) faults.push(...(await faultsIn(watcher, answer, upstream)))
    answers.push(...ended)
    const ids = await written
    await checkTexts(await untilWritten(watcher, root_id, { killed: at }), names, ids)
    figures.cycles++
    if (!isAlone && figures.cycles < cycles) await nodes.restart()
    figures.interrupted = answers.filter(({ status }) => status === 'interrupted').length
    figures.complete = answers.filter(({ status }) => status === 'complete').length
    figures.reconnects = followers.reconnects()
  }

  /** Texts that were written by calls have ended as they were written; those of the killed process have ended. */
  async function checkTexts(messages: Message[], names: string[], ids: string[]): Promise<void> {
    const byId = new Map(messages.map((message) => [message.id, message]))
    const own = ids.map((id, n) => ({ message: byId.get(id)!, name: names[n]!, isWhole: true }))
    const asked = new Map(messages.map(({ id, content }) => [id, content]))
    const hosted = messages.flatMap((message) => {
      const prompt = asked.get(message.parent_id ?? '') ?? ''
      if (!prompt.startsWith(ASKS_HOST)) return []
      return { message, name: prompt.slice(ASKS_HOST.length), isWhole: false }
    })
    for (const { message, name, isWhole } of [...own, ...hosted]) {
      faults.push(...(await faultsOfText(watcher, message, name, isWhole)))
      texts.texts++
      if (message.status === 'interrupted') texts.texts_interrupted++
    }
  }

  try {
    while (figures.cycles < cycles && faults.length === 0) {
      await cycle()
      onCycle?.({ ...figures, ...texts, faults })
    }
    const last = await position()
    const told = await followers.finish(last)
    const start = `${last.slice(0, last.indexOf('.'))}.0`
    const whole = await startFollowers({ ...reading, from: start, readers: 1 }).finish(last)
    faults.push(...told.faults, ...whole.faults, ...differencesIn(told.log, answers))
    for (const [seq, note] of told.log) if (whole.log.get(seq) !== note) faults.push(`event ${seq} was another`)
    if (told.log.size !== seqOf(last) - seqOf(from)) faults.push(`${told.log.size} events up to ${last}`)
    faults.push(...(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })))
    return { ...figures, ...texts, events: told.events, faults }
  } finally {
    await followers.stop()
  }
}

/** Asks for answers of all kinds in a thread. A kill may leave some of the calls without a response. */
async function askAll(asker: ChatClient, parent_id: string, cycle: number): Promise<void> {
  const prompts = MANNERS.flatMap((manner) => Array.from({ length: EACH }, (_, n) => `${cycle}.${n} ${manner}`))
  const ask = (content: string) => unlessCut(asker.messages.reply(parent_id, { content, role: 'assistant' }))
  await Promise.all(prompts.map(ask))
}

/** A call that a kill may leave without a response. */
async function unlessCut(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (error instanceof ChatError) throw error
  }
}

/** A bot that takes part, as clients of these services. */
async function makeBot(owner: AdminClient, conversation_id: string, base_urls: string[]): Promise<ChatClient[]> {
  const { bot, key } = await owner.bots.create({ username: 'crier' })
  await owner.participants.add(conversation_id, { user_id: bot.id })
  return base_urls.map((base_url) => createAdminClient({ base_url, api_key: key }))
}
