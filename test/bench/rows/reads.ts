import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { childPath, ROOT_PATH } from '../../../lib/chat/messages/rules.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { newId } from '../../../lib/core/ids.ts'
import {
  type Actor,
  type Chat,
  createChatService,
  OPERATOR,
  openStorage,
  type Ports,
  parseConfig,
} from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { progress } from '../report.ts'
import { type Bench, interleave, median, type Row } from '../row.ts'
import { temporaryFolder } from '../servers/child.ts'
import { urlOf } from '../servers/service.ts'

const MESSAGES = 1_000_000
const PAGE = 50

/** The number of rows for short rounds (`--quick`). */
const QUICK_MESSAGES = 100_000
const QUICK_SECONDS = 1

const SMALL_THREAD = 1_000
/** The messages of each of many threads. */
export const THREAD = 100
const UNREAD = 100
/** The threads of an answer about what is unread, unless more are asked for; the total is of all of them. */
const UNREAD_PAGE = 200

/** A reply to a message this deep goes beside it instead. */
const MAX_DEPTH = 12

/** Rows of one INSERT, and threads or marks of one transaction. */
const BATCH = 250

/** The reader's side of a conversation that `author` fills. */
export interface Room {
  chat: Chat
  /** The database. */
  file: string
  author: Actor
  reader: Actor
  conversationId: string
  /** The first instant after the reader has joined. */
  since: number
  random: (below: number) => number
}

/** Wherever a page begins, and however long the thread is, it is one range of an index. */
export const tree: Row = {
  name: 'tree',
  title: `a page of ${PAGE} anywhere in a thread of ${MESSAGES.toLocaleString('en-US')} messages`,
  unit: 'ms',
  peer: `one of ${SMALL_THREAD.toLocaleString('en-US')}`,
  better: 'lower',
  reach: 3,
  beyond: 2,
  measure: (bench) =>
    inRoom(async (room) => {
      const small = await fillThread(room, SMALL_THREAD, (n) => room.since + n)
      const large = await fillThread(room, messagesOf(bench), (n) => room.since + SMALL_THREAD + n)
      const read = (thread: Thread) => medianMs(bench, () => readPage(room, thread))
      await read(large)
      await read(small)
      return interleave(
        bench.rounds,
        () => read(large),
        () => read(small),
      )
    }),
}

/** All was read. */
export const unreadNone = unread(
  { name: 'unread-none', title: 'none of them unread', reach: 1, beyond: 0.1 },
  async (room, roots) => {
    await inBatches(roots, (root) => room.chat.threads.markRead(room.reader, root, {}))
    return { threads: 0, total: 0 }
  },
)

/** All was read, then some threads went on: what is unread is also what is latest. */
export const unreadLatest = unread(
  { name: 'unread-100', title: `${UNREAD} of them unread, the latest`, reach: 5, beyond: 2 },
  async (room, roots) => {
    await inBatches(roots, (root) => room.chat.threads.markRead(room.reader, root, {}))
    const latest = shuffled(room, roots).slice(0, UNREAD)
    await inBatches(latest, (root) =>
      room.chat.messages.reply(room.author, root, { content: 'One more', role: 'user' }),
    )
    return { threads: UNREAD, total: UNREAD }
  },
)

/** All but some threads were read, in no order. */
export const unreadAnywhere = unread(
  { name: 'unread-100-anywhere', title: `${UNREAD} of them unread, anywhere`, reach: 5, beyond: 2 },
  async (room, roots) => {
    const read = shuffled(room, roots).slice(UNREAD)
    await inBatches(read, (root) => room.chat.threads.markRead(room.reader, root, {}))
    return { threads: UNREAD, total: UNREAD * THREAD }
  },
)

/** Nothing was ever read. */
export const unreadAll = unread(
  { name: 'unread-all', title: 'all of them unread', reach: 60, beyond: 15 },
  async (_room, roots) => ({ threads: roots.length, total: roots.length * THREAD }),
)

/** What is unread in a conversation of many threads, once `prepare` has read some; it returns what must come out. */
function unread(
  row: Pick<Row, 'name' | 'title' | 'reach' | 'beyond'>,
  prepare: (room: Room, roots: string[]) => Promise<{ threads: number; total: number }>,
): Row {
  return {
    ...row,
    title: `unread in ${(MESSAGES / THREAD).toLocaleString('en-US')} threads of ${THREAD} messages, ${row.title}`,
    unit: 'ms',
    better: 'lower',
    measure: (bench) =>
      inRoom(async (room) => {
        const roots = await fillThreads(room, messagesOf(bench) / THREAD)
        const expected = await prepare(room, roots)
        const read = () =>
          medianMs(bench, async () => {
            const { threads, total } = await room.chat.threads.unread(room.reader, room.conversationId)
            if (threads.length !== Math.min(expected.threads, UNREAD_PAGE) || total !== expected.total)
              throw new Error(`${total} messages in ${threads.length} threads were unread`)
          })
        await read()
        const rounds = []
        for (let round = 0; round < bench.rounds; round++) rounds.push({ service: await read() })
        return rounds
      }),
  }
}

export function messagesOf({ seconds }: Bench): number {
  if (seconds > QUICK_SECONDS) return MESSAGES
  progress(`  with ${QUICK_MESSAGES} only, as rounds of ${seconds} s say little anyway`)
  return QUICK_MESSAGES
}

/** How the service of a room differs from the default. */
export interface RoomOptions {
  settings?: object
  ports?: Ports
}

/** Gives `work` the library on a file of SQLite of its own, with a conversation that the reader has joined. */
export async function inRoom<T>(work: (room: Room) => Promise<T>): Promise<T> {
  const folder = temporaryFolder()
  try {
    return await inRoomOf(join(folder, 'chat.db'), work)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As {@link inRoom}, on this new database, with what the host brings. */
export async function inRoomOf<T>(
  file: string,
  work: (room: Room) => Promise<T>,
  { settings = {}, ports = {} }: RoomOptions = {},
): Promise<T> {
  // Only reads are measured: what fills the database need not wait for the disk.
  const storage = await openStorage({ database: urlOf(file), durability: 'os' })
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } }, ...settings })
  const chat = createChatService(config, storage, ports)
  try {
    await chat.start({ background: false })
    await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
    const { user } = await chat.users.create(OPERATOR, { username: 'grace', email: 'grace@example.org' })
    const reader = await chat.users.actor(user.id)
    const { users } = await chat.users.list(OPERATOR)
    const author = await chat.users.actor(users.find(({ id }) => id !== user.id)!.id)
    const { conversation_id: conversationId } = await chat.conversations.create(author, { title: 'Bench' })
    await chat.participants.add(author, conversationId, { user_id: user.id })
    const since = Date.now() * 1000 + 1_000
    return await work({ chat, file, author, reader, conversationId, since, random: createRandom() })
  } finally {
    await chat.close()
  }
}

interface Thread {
  root: string
  /** Where a page may begin: behind every message but the last ones, so that all pages are full. */
  cursors: string[]
}

/** Stores a thread of `size` messages, each a reply to any earlier one; `at` is when the n-th arrived. */
export async function fillThread(room: Room, size: number, at: (n: number) => number): Promise<Thread> {
  const { chat, author, conversationId } = room
  const messages = growTree(size, room.random)
  const root = messages[0]!.id
  await contextOf(chat).db.write(async (tx) => {
    await tx.run(
      sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
       VALUES (${root}, ${conversationId}, ${at(0)}, ${at(size - 1)}, ${size}, 1)`,
    )
    await tx.run(
      sql`INSERT INTO thread_members (root_id, user_id, live_count) VALUES (${root}, ${author.user_id}, ${size})`,
    )
    await tx.run(
      sql`UPDATE conversations SET clock = CASE WHEN clock < ${at(size - 1)} THEN ${at(size - 1)} ELSE clock END,
          message_count = message_count + ${size}
        WHERE id = ${conversationId}`,
    )
    await tx.run(
      sql`UPDATE participants SET seen_count = seen_count + ${size} WHERE conversation_id = ${conversationId} AND user_id = ${author.user_id}`,
    )
  })
  const batches = Array.from({ length: Math.ceil(size / BATCH) }, (_, n) => n * BATCH)
  await inBatches(batches, (from) =>
    insertMessages(room, root, messages.slice(from, from + BATCH), (n) => at(from + n)),
  )
  const paths = messages.map(({ path }) => path).sort()
  return { root, cursors: paths.slice(0, -PAGE) }
}

/** One statement for all of them; `at` is when the n-th of them arrived. */
function insertMessages(room: Room, root: string, messages: Planted[], at: (n: number) => number): Promise<number> {
  const { chat, author, conversationId, random } = room
  const places = Array(messages.length).fill("(?, ?, ?, ?, ?, 'user', ?, ?, ?, ?, 'complete', ?)").join()
  const values = messages.flatMap(({ id, parent_id, path, depth, replies }, n) => [
    id,
    conversationId,
    root,
    parent_id,
    author.user_id,
    'so it goes on and on '.repeat(1 + random(8)),
    path,
    depth,
    replies,
    at(n),
  ])
  return contextOf(chat).db.write((tx) =>
    tx.run(
      statement(
        `INSERT INTO messages
         (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at)
       VALUES ${places}`,
        values,
      ),
    ),
  )
}

interface Planted {
  id: string
  parent_id: string | null
  path: string
  depth: number
  replies: number
}

function growTree(size: number, random: Room['random']): Planted[] {
  const messages: (Planted & { parent?: Planted })[] = []
  for (let n = 0; n < size; n++) {
    const met = n > 0 ? messages[random(n)]! : undefined
    const parent = met && met.depth >= MAX_DEPTH ? met.parent : met
    messages.push({
      id: newId(),
      ...(parent && { parent }),
      parent_id: parent?.id ?? null,
      path: parent ? childPath(parent.path, parent.replies++) : ROOT_PATH,
      depth: parent ? parent.depth + 1 : 0,
      replies: 0,
    })
  }
  return messages
}

/** Stores `count` threads of 100 messages. They began one after the other, but the order of their last messages differs. */
export async function fillThreads(room: Room, count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, number) => number)
  const places = shuffled(room, numbers)
  const threads = await inBatches(numbers, (number) =>
    fillThread(room, THREAD, (n) => room.since + n * count + (n === 0 ? number : places[number]!)),
  )
  return threads.map(({ root }) => root)
}

async function readPage({ chat, reader, random }: Room, { root, cursors }: Thread): Promise<void> {
  const cursor_path = cursors[random(cursors.length)]!
  const { messages } = await chat.threads.tree(reader, root, { cursor_path, limit: PAGE })
  if (messages.length !== PAGE) throw new Error(`a page had ${messages.length} messages`)
}

/** How long `call` takes, in milliseconds, called again and again for the length of a round. */
export async function medianMs({ seconds }: Bench, call: () => Promise<void>): Promise<number> {
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  for (let now = performance.now(); now < end; ) {
    await call()
    const after = performance.now()
    times.push(after - now)
    now = after
  }
  return median(times)
}

/** As many at once as commit together. */
/** Calls it for each value, some at once. */
export async function inBatches<T, R>(values: T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < values.length; from += BATCH)
    results.push(...(await Promise.all(values.slice(from, from + BATCH).map(work))))
  return results
}

function shuffled<T>({ random }: Room, values: T[]): T[] {
  const result = [...values]
  for (let i = result.length - 1; i > 0; i--) {
    const j = random(i + 1)
    ;[result[i], result[j]] = [result[j]!, result[i]!]
  }
  return result
}

/** The same trees, marks and cursors in every run. */
function createRandom(): (below: number) => number {
  let state = 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
