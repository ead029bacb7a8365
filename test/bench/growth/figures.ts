import { execFile } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { contextOf } from '../../../lib/core/context-of.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { httpRequest } from '../load/http.ts'
import { timeRequest } from '../load/latency.ts'
import { perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { progress } from '../report.ts'
import { type Bench, median } from '../row.ts'
import { ready } from '../rows/start.ts'
import { ROOT, type Server, temporaryFolder } from '../servers/child.ts'
import { type Person, withChat } from '../servers/people.ts'
import { startBareService, urlOf } from '../servers/service.ts'
import { type History, roundedSize, seedHistory } from './seed.ts'

/** The posts in progress. */
const UNDER_WAY = 32

/** The events that a stream has missed; the shortest history has more. */
const MISSED = 50

/** How often the search index is looked at. */
const LOOK_MS = 200

/** What is read again and again may not read the whole; what copies or checks everything does. */
export interface GrowthFigure {
  name: string
  unit: string
  /** How the figure may grow with the database. */
  expected: 'flat' | 'in proportion'
}

export const FIGURES: GrowthFigure[] = [
  { name: 'posts', unit: '/s', expected: 'flat' },
  { name: 'timeline', unit: 'ms', expected: 'flat' },
  { name: 'tree', unit: 'ms', expected: 'flat' },
  { name: 'unread', unit: 'ms', expected: 'flat' },
  { name: 'conversations', unit: 'ms', expected: 'flat' },
  { name: 'threads', unit: 'ms', expected: 'flat' },
  { name: 'followed', unit: 'ms', expected: 'flat' },
  { name: 'read-all', unit: 'ms', expected: 'flat' },
  { name: 'replay', unit: 'ms', expected: 'flat' },
  { name: 'heartbeat', unit: 'ms', expected: 'flat' },
  { name: 'start', unit: 'ms', expected: 'flat' },
  { name: 'backup', unit: 'ms', expected: 'in proportion' },
  { name: 'fsck', unit: 'ms', expected: 'in proportion' },
  { name: 'file', unit: 'MiB', expected: 'in proportion' },
]

/** All figures, in their order, of a database with so many messages. */
export async function measureSize(messages: number, { seconds, command }: Bench): Promise<number[]> {
  const folder = temporaryFolder()
  const file = join(folder, 'chat.db')
  progress(`  ${roundedSize(messages).toLocaleString('en-US')} messages …`)
  const history = await seedHistory(file, messages)
  const figures: Record<string, number> = { file: statSync(file).size / 2 ** 20 }
  try {
    // Before anything is posted: what is wrong in the seeded rows shows here.
    figures.fsck = await timeCommand(command, 'fsck', '--database', urlOf(file))
    figures.backup = await timeCommand(command, 'backup', join(folder, 'copy.db'), '--database', urlOf(file))
    const began = performance.now()
    const server = await startBareService(command, file)
    try {
      await ready(server)
      figures.start = performance.now() - began
      await untilSearchable(file)
      Object.assign(figures, await measureCalls(server, history, seconds))
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return FIGURES.map(({ name }) => figures[name]!)
}

/** Waits for the search index, which takes the seeded messages in beside all other work: the longer, the more there are. */
function untilSearchable(file: string): Promise<void> {
  return withChat(file, async (chat) => {
    const { db } = contextOf(chat)
    while (await db.get(sql`SELECT 1 AS one FROM tasks WHERE kind = 'search.fill'`)) await delay(LOOK_MS)
  })
}

async function measureCalls(
  server: Server,
  { reader, author, conversations }: History,
  seconds: number,
): Promise<Record<string, number>> {
  const { port } = server
  const get = (path: string) => httpRequest('GET', path, { headers: reader.headers })
  const time = async (requests: string[]) => median(await timeRequest({ port, request: requests }, seconds))
  const ofEach = (path: (id: string) => string) =>
    time(conversations.map(({ conversation_id }) => get(path(conversation_id))))
  const reads = {
    timeline: await ofEach((id) => `/api/conversations/${id}/messages?limit=50`),
    tree: await time(conversations.flatMap(({ roots }) => roots.map((id) => get(`/api/threads/${id}/tree?limit=50`)))),
    unread: await ofEach((id) => `/api/conversations/${id}/unread`),
    conversations: await time([get('/api/conversations?limit=50')]),
    threads: await ofEach((id) => `/api/conversations/${id}/threads?limit=20`),
    followed: await time([get('/api/threads?limit=50')]),
    heartbeat: await time([httpRequest('POST', '/api/presence/heartbeat', { headers: reader.headers })]),
    replay: await timeReplay(port, reader.headers, conversations, seconds),
    'read-all': await timeReadAll(port, { reader, author, conversations }, seconds),
  }
  const requests = conversations.map(({ root_id }) =>
    httpRequest('POST', `/api/messages/${root_id}/reply`, {
      headers: author.headers,
      body: { content: postContent(0) },
    }),
  )
  return { ...reads, posts: perSecond(await repeatRequest({ ...server, requests }, UNDER_WAY, seconds)) }
}

/** The median of how long a conversation takes to be marked as read, each time after a reply of another user. */
async function timeReadAll(port: number, { reader, author, conversations }: History, seconds: number): Promise<number> {
  const post = async (path: string, { headers }: Person, body: object) => {
    const sent = { ...headers, 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} was answered ${response.status}`)
    await response.arrayBuffer()
  }
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  for (let n = 0; performance.now() < end; n++) {
    const { conversation_id, root_id } = conversations[n % conversations.length]!
    await post(`/api/messages/${root_id}/reply`, author, { content: postContent(n) })
    const began = performance.now()
    await post(`/api/conversations/${conversation_id}/read`, reader, { all: true })
    times.push(performance.now() - began)
  }
  return median(times)
}

/** The median of how long a stream takes to get what it has missed, one after the other. */
async function timeReplay(
  port: number,
  headers: Record<string, string>,
  conversations: History['conversations'],
  seconds: number,
): Promise<number> {
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  for (let n = 0; performance.now() < end; n++) {
    const { conversation_id } = conversations[n % conversations.length]!
    const path = `http://127.0.0.1:${port}/api/stream/conversations/${conversation_id}`
    const last = await readUntil(path, headers, (text) => /"last_event_id":"([^"]+)"/.exec(text)?.[1])
    const [epoch, seq] = last.split('.')
    const from = { ...headers, 'last-event-id': `${epoch}.${Number(seq) - MISSED}` }
    const began = performance.now()
    await readUntil(path, from, (text) => (text.includes(`id: ${last}\n`) ? last : undefined))
    times.push(performance.now() - began)
  }
  return median(times)
}

/** Follows a stream until `find` returns something. */
async function readUntil(
  url: string,
  headers: Record<string, string>,
  find: (text: string) => string | undefined,
): Promise<string> {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`)
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true })
    const found = find(text)
    // Leaving the loop ends the connection.
    if (found !== undefined) return found
  }
  throw new Error(`${url} ended`)
}

/** How long a command takes, from the start of its process to its end. */
async function timeCommand(command: string[], ...args: string[]): Promise<number> {
  const began = performance.now()
  await promisify(execFile)(process.execPath, [...command, ...args], { cwd: ROOT })
  return performance.now() - began
}
