import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import type { Database } from '../../lib/storage/database.ts'
import { sql, statement } from '../../lib/storage/sql.ts'

const UNITS_MS = [60_000, 3_600_000, 86_400_000, 365 * 86_400_000]
const KEPT = ['sessions', 'audit_log', 'events', 'invites', 'messages']
const PASSWORD = 'correct horse battery'

/** Steps the clocks of two nodes at random while they work. @returns what was lost, and how many steps there were */
export async function stepClocks({ url, steps, random }: { url: string; steps: number; random: () => number }) {
  const storage = await openStorage({ database: url })
  const chat = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } } }), storage)
  await chat.start({ background: false })
  const { conversation_id, tokens } = await setUp(chat)
  const nodes = await Promise.all(tokens.map((token) => startNode(url, token)))
  const faults: string[] = []
  const ahead = nodes.map(() => 0)
  let before = await countRows(storage.db)
  for (let step = 0; step < steps; step++) {
    const both = random() < 0.3
    const chosen = Math.floor(random() * nodes.length)
    nodes.forEach((_, n) => {
      // One step in three sets a clock right again.
      if (both || n === chosen) ahead[n] = random() < 1 / 3 ? 0 : randomStep(random)
    })
    const answers = await Promise.all(nodes.map((node, n) => ask(node, { ahead: ahead[n]!, conversation_id })))
    for (const { error } of answers) if (error) faults.push(`step ${step}, ${ahead.join(' and ')} ms: ${error}`)
    const after = await countRows(storage.db)
    for (const table of KEPT) if (after[table]! < before[table]!) faults.push(`step ${step}: ${table} were deleted`)
    before = after
  }
  faults.push(...(await findDisorder(storage.db)))
  for (const node of nodes) {
    node.send('stop')
    await once(node, 'exit')
  }
  await chat.close()
  return { steps, messages: before.messages!, faults }
}

async function setUp(chat: ReturnType<typeof createChatService>) {
  const email = 'ada@example.org'
  await chat.setup.run({ email, password: PASSWORD })
  const tokens: string[] = []
  for (let n = 0; n < 2; n++) tokens.push((await chat.auth.login({}, { email, password: PASSWORD })).token)
  const { session_cookie_name } = parseConfig({}).session
  const actor = await chat.auth.authenticate(new Headers({ cookie: `${session_cookie_name}=${tokens[0]}` }))
  const { conversation_id } = await chat.conversations.create(actor, { title: 'Steps' })
  await chat.invites.create(actor, conversation_id, { role: 'member' })
  return { conversation_id, tokens }
}

/** Five minutes and more: less is no step. */
function randomStep(random: () => number): number {
  const unit = UNITS_MS[Math.floor(random() * UNITS_MS.length)]!
  return Math.round((random() < 0.5 ? -1 : 1) * unit * (6 + random() * 12))
}

async function startNode(url: string, token: string): Promise<ChildProcess> {
  const node = fork(new URL('./clock-node.ts', import.meta.url), [url, token], { execArgv: ['--import', 'tsx'] })
  await once(node, 'message')
  return node
}

async function ask(node: ChildProcess, message: object): Promise<{ error?: string }> {
  node.send(message)
  const [answer] = await once(node, 'message')
  return answer
}

async function countRows(db: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of KEPT)
    counts[table] = Number((await db.get<{ n: number }>(statement(`SELECT count(*) AS n FROM ${table}`)))!.n)
  return counts
}

/** Events have their numbers without a gap, and rising times. */
async function findDisorder(db: Database): Promise<string[]> {
  const events = await db.all<{ seq: number; created_at: number }>(
    sql`SELECT seq, created_at FROM events ORDER BY conversation_id, seq`,
  )
  return events.flatMap(({ seq, created_at }, n) => {
    const last = events[n - 1]
    if (!last || Number(seq) === 1) return []
    const isNext = Number(seq) === Number(last.seq) + 1 && Number(created_at) >= Number(last.created_at)
    return isNext ? [] : [`event ${seq} is out of order`]
  })
}
