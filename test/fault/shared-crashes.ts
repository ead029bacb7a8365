import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { contextOf } from '../../lib/core/context-of.ts'
import { type Actor, type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { programArgs } from '../support/programs.ts'
import { inconsistenciesIn } from './invariants.ts'

/** Where the last transaction ends: after its row, after the message, before the commit, and during or after it. */
export const STEPS = ['row', 'message', 'posted', 'commit'] as const

/** A host that is killed again and again in the middle of a transaction with the service. */
export interface SharedCrashOptions {
  /** An empty database. */
  url: string
  kills: number
  random: () => number
  onKill?: (figures: SharedCrashFigures) => void
}

/** The result of a run. */
export interface SharedCrashFigures {
  kills: number
  /** Orders that were committed, and transactions that were not. */
  committed: number
  lost: number
  /** An order without its message, a message or an event without its order, and findings of `fsck`. */
  faults: string[]
}

const MAX_ORDERS = 3
const MAX_DELAY_MS = 3

/** Events must arrive within this time. */
const TIMEOUT_MS = 30_000

/** Kills a host between its row and its commit, while a stream of another process follows the conversation. */
export async function crashShared({ url, kills, random, onKill }: SharedCrashOptions): Promise<SharedCrashFigures> {
  const chat = createChatService(parseConfig(), await openStorage({ database: url }))
  await chat.start()
  const { db } = contextOf(chat)
  await db.run(sql`CREATE TABLE orders (id INTEGER PRIMARY KEY)`)
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const ada = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(ada, { title: 'Orders' })
  const figures: SharedCrashFigures = { kills: 0, committed: 0, lost: 0, faults: [] }
  const reader = follow(chat, ada, conversation_id, figures.faults)
  const listOrders = async () =>
    (await db.all<{ id: number }>(sql`SELECT id FROM orders ORDER BY id`)).map(({ id }) => id)
  let next = 1
  for (let kill = 0; kill < kills; kill++) {
    const orders = 1 + Math.floor(random() * MAX_ORDERS)
    const step = STEPS[kill % STEPS.length]!
    const delay = Math.floor(random() * MAX_DELAY_MS)
    const args = [url, user.id, conversation_id, next, orders, step, delay].map(String)
    await runToItsEnd(args)
    next += orders
    figures.kills++
    const found = await listOrders()
    figures.committed = found.length
    figures.lost = next - 1 - found.length
    const said = await listPosted(chat, conversation_id)
    if (String(found) !== String(said)) figures.faults.push(`orders ${found}, messages ${said}, after ${step}`)
    onKill?.(figures)
  }
  const found = await listOrders()
  const end = performance.now() + TIMEOUT_MS
  while (reader.got.length < found.length && performance.now() < end) await sleep(20)
  if (String(reader.got) !== String(found)) figures.faults.push(`orders ${found}, events ${reader.got}`)
  await reader.stop()
  await chat.close()
  figures.faults.push(...(await inconsistenciesIn(url)))
  return figures
}

/** The orders of which there is a message, as read from the database. */
async function listPosted(chat: Chat, conversation_id: string): Promise<number[]> {
  const rows = await contextOf(chat).db.all<{ content: string }>(
    sql`SELECT content FROM messages WHERE conversation_id = ${conversation_id} ORDER BY created_at`,
  )
  return rows.map(({ content }) => Number(content.slice('order '.length)))
}

/** Notes the orders whose events arrive: each must be stored by then. */
function follow(chat: Chat, actor: Actor, conversation_id: string, faults: string[]) {
  const abort = new AbortController()
  const got: number[] = []
  const over = (async () => {
    for await (const { event } of chat.events.follow(actor, conversation_id, { signal: abort.signal })) {
      if (event.type !== 'message.new') continue
      const id = Number(event.payload.message.content.slice('order '.length))
      got.push(id)
      const row = await contextOf(chat).db.get(sql`SELECT id FROM orders WHERE id = ${id}`)
      if (!row) faults.push(`an event of order ${id}, which is not stored`)
    }
  })()
  return {
    got,
    async stop() {
      abort.abort()
      await over
    },
  }
}

async function runToItsEnd(args: string[]): Promise<void> {
  const child = spawn(process.execPath, [...programArgs('test/fault/sharing.ts'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH },
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const [, signal] = await once(child, 'close')
  if (signal !== 'SIGKILL') throw new Error(`The host ended by itself:\n${errors}`)
}
