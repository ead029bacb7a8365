import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminClient } from '../../lib/client/admin.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { inconsistenciesIn } from './invariants.ts'
import { settle } from './people.ts'
import { startProcess } from './process.ts'
import { tracesOf } from './traces.ts'

/** A service that is killed again and again while it removes deleted data. */
export interface RemovalCrashOptions {
  /** An empty database. */
  url: string
  /** At least so many; some more while no removal was interrupted. */
  cycles: number
  /** The number of messages of each removal. */
  messages: number
  random: () => number
  /** Whether the lease of the killed process expires by itself, or is expired by the test. */
  lease: 'awaited' | 'lapsed'
  onCycle?: (figures: RemovalCrashFigures) => void
}

/** The result of a run. */
export interface RemovalCrashFigures {
  cycles: number
  /** Kills that left some messages of a conversation, or of a user, and not all. */
  interrupted: { conversation: number; person: number }
  /** The longest time from a start to the end of the removal. */
  slowest_ms: number
  /** Failures: deleted data that was returned or kept, and findings of `fsck`. */
  faults: string[]
}

/** A removal and its progress. */
interface Planted {
  /** A word in every text. */
  word: string
  remove(client: AdminClient): Promise<unknown>
  /** The number of messages that are not removed yet. */
  left(): Promise<number>
  /** The deleted data that clients can still read. */
  shown(client: AdminClient): Promise<string[]>
}

/** Large enough that a removal needs several batches. */
const FILLING = ' lorem ipsum'.repeat(400)

/** The maximum duration of a removal: the lease of the killed process, a poll, and the work. */
const TIMEOUT_MS = 60_000

const POSTS_AT_ONCE = 50

const MORE_CYCLES = 5

/** Kills the service during removals, starts it again, and checks that they continue and leave nothing. */
export async function crashRemovals(options: RemovalCrashOptions): Promise<RemovalCrashFigures> {
  const { url, cycles, random, lease, onCycle } = options
  let server = await startProcess(url)
  const place = await settle(server.base_url)
  const client = await place.signIn()
  const chat = createChatService(parseConfig({}), await openStorage({ database: url }))
  await chat.start({ background: false })
  const figures: RemovalCrashFigures = {
    cycles: 0,
    interrupted: { conversation: 0, person: 0 },
    slowest_ms: 0,
    faults: [],
  }

  async function crashIn(kind: 'conversation' | 'person', planted: Planted): Promise<void> {
    const { port } = server
    await planted.remove(client)
    const enough = options.messages * (0.1 + 0.8 * random())
    while ((await planted.left()) > enough) await sleep(1)
    await server.kill()
    const left = await planted.left()
    if (left > 0) figures.interrupted[kind]++
    if (lease === 'lapsed')
      await contextOf(chat).db.run(sql`UPDATE tasks SET lease_expires_at = 1 WHERE writer IS NOT NULL`)
    server = await startProcess(url, { port })
    const started = performance.now()
    figures.faults.push(...(await planted.shown(client)))
    if (!(await haveEnded(chat))) figures.faults.push(`the removal of a ${kind} does not end`)
    if (left > 0) figures.slowest_ms = Math.max(figures.slowest_ms, performance.now() - started)
    if ((await planted.left()) > 0) figures.faults.push(`messages of a ${kind} are left`)
    const traces = await tracesOf(chat, url, planted.word)
    figures.faults.push(...traces.map((found) => `a text of a ${kind} that was removed is in ${found}`))
  }

  // A process can be faster than its kill: then a few more cycles, until one is not.
  const isTooEarly = () =>
    figures.interrupted.conversation + figures.interrupted.person === 0 && figures.cycles < cycles + MORE_CYCLES

  try {
    while ((figures.cycles < cycles || isTooEarly()) && figures.faults.length === 0) {
      const n = figures.cycles
      await crashIn('conversation', await plantConversation(chat, options.messages, `zxcanary${n}c`))
      await crashIn('person', await plantPerson(chat, place.conversation_id, options.messages, `zxcanary${n}p`))
      figures.cycles++
      onCycle?.(figures)
    }
  } finally {
    await server.kill()
    await chat.close()
  }
  figures.faults.push(...(await inconsistenciesIn(url)))
  return figures
}

async function plantConversation(chat: Chat, messages: number, word: string): Promise<Planted> {
  const ada = await findFirst(chat)
  // The audit log keeps its title: that must not be the text that is looked for.
  const { conversation_id } = await chat.conversations.create(ada, { title: 'Removed' })
  const root_id = await fill(chat, ada, conversation_id, messages, word)
  return {
    word,
    remove: (client) => client.conversations.remove(conversation_id),
    left: () => count(chat, 'conversation_id', conversation_id),
    shown: async (client) => [
      ...(await isFound(client.conversations.get(conversation_id), 'a deleted conversation is shown')),
      ...(await isFound(client.threads.tree(root_id), 'a thread of a deleted conversation is shown')),
    ],
  }
}

async function plantPerson(chat: Chat, conversationId: string, messages: number, word: string): Promise<Planted> {
  const ada = await findFirst(chat)
  const { user } = await chat.users.create(OPERATOR, { username: word, email: `${word}@example.org` })
  await chat.participants.add(ada, conversationId, { user_id: user.id })
  const root_id = await fill(chat, await chat.users.actor(user.id), conversationId, messages, word)
  return {
    word,
    remove: (client) => client.users.erase(user.id, { messages: 'erase' }),
    left: () => count(chat, 'posted_by', user.id),
    shown: async (client) => {
      const page = await client.threads.tree(root_id)
      return JSON.stringify(page).includes(word) ? ['a text of an erased person is shown'] : []
    },
  }
}

/** @returns the root of the thread that now has this many messages */
async function fill(
  chat: Chat,
  author: Awaited<ReturnType<typeof findFirst>>,
  conversationId: string,
  messages: number,
  word: string,
): Promise<string> {
  const content = word + FILLING
  const { message_id } = await chat.messages.postRoot(author, conversationId, { content })
  await chat.messages.edit(author, message_id, { content: `${content} again` })
  for (let posted = 1; posted < messages; posted += POSTS_AT_ONCE) {
    const size = Math.min(POSTS_AT_ONCE, messages - posted)
    await Promise.all(
      Array.from({ length: size }, () => chat.messages.reply(author, message_id, { content, role: 'user' })),
    )
  }
  return message_id
}

async function findFirst(chat: Chat) {
  const { users } = await chat.users.list(OPERATOR)
  return chat.users.actor(users.find(({ roles }) => roles.includes('admin'))!.id)
}

async function count(chat: Chat, column: 'conversation_id' | 'posted_by', id: string): Promise<number> {
  const { db } = contextOf(chat)
  const row = await db.get<{ left: number }>(
    statement(`SELECT count(*) AS left FROM messages WHERE ${column} = ?`, [id]),
  )
  return Number(row!.left)
}

async function isFound(call: Promise<unknown>, fault: string): Promise<string[]> {
  try {
    await call
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return []
    throw error
  }
  return [fault]
}

/** Waits until no task is left. @returns whether that happened in time */
async function haveEnded(chat: Chat): Promise<boolean> {
  const { db } = contextOf(chat)
  const deadline = performance.now() + TIMEOUT_MS
  while (performance.now() < deadline) {
    if (!(await db.get(sql`SELECT 1 AS found FROM tasks LIMIT 1`))) return true
    await sleep(50)
  }
  return false
}
