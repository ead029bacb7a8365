import type { AnswerPiece, Assistant } from '../../lib/assistant/provider.ts'
import {
  AnswerFailure,
  type Chat,
  createChatService,
  defineTool,
  type Hooks,
  OPERATOR,
  openStorage,
  parseConfig,
} from '../../lib/index.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { among, sql } from '../../lib/storage/sql.ts'
import { innerState } from '../support/service.ts'
import { MAX_STEPS, type Model, type Projection, TOOLS, type ToolName } from './model.ts'

/** A request to the model, which says what the test lets it say. */
export interface Puppet {
  message_id: string
  say(piece: AnswerPiece): void
  end(): void
  fail(): void
}

/** A call of a function that has started. */
interface Started {
  call_id: string
  attempt: number
  end(act: 'finish' | 'fail'): void
}

/** Two nodes on a database, whose model and tools do what the test says. */
export type World = Awaited<ReturnType<typeof startWorld>>

/** @param url of an empty database, or of one with nothing but the schema */
export async function startWorld(url: string, { hold }: { hold: boolean }) {
  const puppets: Puppet[] = []
  const started: Started[] = []
  const nodes: Chat[] = []
  /** The ended calls that closed nodes have counted, by state. */
  const counted: Record<string, number> = {}
  /** The answers that the application does not let through. */
  const withdrawn = new Set<string>()
  const hooks: Hooks = {
    afterAnswer: ({ message: { id, status } }) =>
      status === 'complete' && withdrawn.has(id) ? { withdraw: 'No.' } : undefined,
  }

  async function startNode(): Promise<Chat> {
    const config = {
      security: { password: { bcrypt_cost: 4 } },
      assistant: {
        ...{ tools: Object.keys(TOOLS), max_steps: MAX_STEPS, drain_seconds: 0, hold },
        ...{ max_running: 1_000, max_running_per_user: 1_000 },
      },
    }
    const ports = { assistant: createPuppets(puppets), tools: createTools(started), hooks }
    const chat = createChatService(parseConfig(config), await openStorage({ database: url, strict: true }), ports)
    await chat.start()
    return chat
  }

  for (let n = 0; n < 2; n++) nodes.push(await startNode())
  const model: Model = { hold, people: [], answers: new Map() }
  const [first] = nodes as [Chat]
  const { user } = await first.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const owner = await first.users.actor(user.id)
  const { conversation_id } = await first.conversations.create(owner, { title: 'Model' })
  model.people.push({ id: user.id, role: 'owner' })
  let people = 0

  /** A new participant. */
  async function add(role: 'admin' | 'member'): Promise<string> {
    const username = `person-${++people}`
    const email = `${username}@example.org`
    const { user: added } = await nodes[0]!.users.create(OPERATOR, {
      username,
      email,
      password: 'correct horse battery',
    })
    await nodes[0]!.participants.add(owner, conversation_id, { user_id: added.id, role })
    return added.id
  }
  for (const role of ['admin', 'member', 'member'] as const) model.people.push({ id: await add(role), role })

  return {
    model,
    nodes,
    withdrawn,
    conversation_id,
    add,
    db: () => innerState(nodes[0]!).db,
    /** The last request to the model for an answer. */
    puppet: (id: string) => puppets.findLast(({ message_id }) => message_id === id),
    puppets: () => puppets,
    started: () => started,
    /** What every node does by itself within seconds. */
    async tick(except?: Chat): Promise<void> {
      for (const node of nodes) if (node !== except) await innerState(node).answers.renewLeases()
    },
    /** The ids of the answers that a node writes. */
    async heldBy(node: Chat): Promise<string[]> {
      const { db, answers } = innerState(node)
      const rows = await db.all<{ message_id: string }>(
        sql`SELECT message_id FROM answers_under_way WHERE writer = ${answers.writer}`,
      )
      return rows.map(({ message_id }) => message_id)
    },
    /** Lets the leases of answers expire. */
    age: (ids: readonly string[]) => ageLeases(innerState(nodes[0]!).db, ids),
    /** Puts a new node in the place of one. */
    async replace(node: Chat): Promise<void> {
      const at = nodes.indexOf(node)
      const next = await startNode()
      nodes[at] = next
      await countCalls(node, counted)
      await node.close()
    },
    /** The ended calls that all nodes have counted, by state. */
    async counted(): Promise<Record<string, number>> {
      const all = { ...counted }
      for (const node of nodes) await countCalls(node, all)
      return all
    },
    observe: () => observe(innerState(nodes[0]!).db, { puppets, started }),
    async close(): Promise<void> {
      for (const node of nodes) await node.close()
    },
  }
}

function createPuppets(puppets: Puppet[]): Assistant {
  return async function* ({ message_id, signal }) {
    const steps: (() => AnswerPiece | undefined)[] = []
    let wake = () => {}
    const add = (step: () => AnswerPiece | undefined) => {
      steps.push(step)
      wake()
    }
    puppets.push({
      message_id,
      say: (piece) => add(() => piece),
      end: () => add(() => undefined),
      fail: () =>
        add(() => {
          throw new AnswerFailure('provider_error')
        }),
    })
    signal.addEventListener('abort', () => add(() => undefined))
    for (;;) {
      const step = steps.shift()
      if (step) {
        const piece = step()
        if (piece === undefined) return
        yield piece
      } else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
}

function createTools(started: Started[]) {
  const input = { json_schema: { type: 'object' }, validate: (value: unknown) => ({ value: value as object }) }
  const tools = (Object.keys(TOOLS) as ToolName[]).map((name) => {
    const run = (_: object, { call_id, attempt }: { call_id: string; attempt: number }) =>
      new Promise((resolve, reject) => {
        const end = (act: 'finish' | 'fail') => (act === 'finish' ? resolve('done') : reject(new Error('broken')))
        started.push({ call_id, attempt, end })
      })
    return [name, defineTool({ description: name, input, ...TOOLS[name], run })] as const
  })
  return Object.fromEntries(tools)
}

/** Adds what the metrics of a node have. */
async function countCalls({ ops }: Chat, sums: Record<string, number>): Promise<void> {
  const page = await ops.metrics(null)
  for (const [, state, count] of page.matchAll(/^chat_assistant_tool_calls_total\{outcome="(\w+)"\} (\d+)$/gm))
    sums[state!] = (sums[state!] ?? 0) + Number(count)
}

async function ageLeases(db: Queries, ids: readonly string[]): Promise<void> {
  await db.run(sql`UPDATE answers_under_way SET lease_expires_at = 1 WHERE message_id ${among(db, ids)}`)
}

/** What a database has of the answers, and how often the model and the tools were called. */
async function observe(
  db: Queries,
  { puppets, started }: { puppets: readonly Puppet[]; started: readonly Started[] },
): Promise<Projection> {
  const rows = await db.all<{ id: string; status: string; deleted_at: number | null; content: string; held: number }>(
    sql`SELECT m.id, m.status, m.deleted_at,
            (SELECT coalesce(string_agg(c.content, '' ORDER BY c.idx), '') FROM message_chunks c
              WHERE c.message_id = m.id) AS content,
            (SELECT count(*) FROM answers_under_way a WHERE a.message_id = m.id) AS held
       FROM messages m WHERE m.role = 'assistant' ORDER BY m.id`,
  )
  const calls = await db.all<CallSeen>(
    sql`SELECT id, message_id, name, state, attempts, approval FROM tool_calls ORDER BY message_id, part_id`,
  )
  const votes = await db.all<{ call_id: string; user_id: string | null; approve: number }>(
    sql`SELECT call_id, user_id, approve FROM approval_votes`,
  )
  return rows.map(({ id, status, deleted_at, content, held }) => {
    const own = calls.filter(({ message_id }) => message_id === id)
    const isHeld = Number(held) === 1
    return {
      id,
      // Only what streams is held by a process.
      status: isHeld === (status === 'streaming') ? status : `${status}, ${isHeld ? 'held' : 'not held'}`,
      isDeleted: deleted_at !== null,
      content,
      ...(status === 'streaming' &&
        own.every(({ state }) => !['requested', 'waiting', 'approved', 'running'].includes(state)) && {
          asks: puppets.filter(({ message_id }) => message_id === id).length,
        }),
      calls: own.map(({ id: call_id, name, state, attempts, approval }) => ({
        ...{ tool: name, state, attempts, approval },
        votes: votes
          .filter((each) => each.call_id === call_id)
          .map(({ user_id, approve }) => `${user_id} ${approve === 1 ? 'approves' : 'denies'}`)
          .sort(),
        ...(state === 'running' && { starts: started.filter((each) => each.call_id === call_id).length }),
      })),
    }
  })
}

interface CallSeen {
  id: string
  message_id: string
  name: string
  state: string
  attempts: number
  approval: string | null
}

/** The id of a call, by its place in its answer. */
export async function callIdOf({ db }: World, message_id: string, n: number): Promise<string> {
  const rows = await db().all<{ id: string }>(
    sql`SELECT id FROM tool_calls WHERE message_id = ${message_id} ORDER BY part_id`,
  )
  return rows[n]!.id
}
