import { setTimeout as sleep } from 'node:timers/promises'
import { type AdminClient, createAdminClient } from '../../../lib/client/admin.ts'
import { ChatError } from '../../../lib/core/errors.ts'
import { isUnderWay } from '../../../lib/core/message-status.ts'
import type { Fleet } from '../fleet.ts'
import type { Report } from './checks.ts'
import { type Asked, type Caller, type Door, isLost, PAUSE_MS, Refused, type WaitingCall } from './door.ts'
import { DOORS } from './table.ts'

/** The most frames that a client reads before it leaves for a while. */
const MAX_FRAMES = 200

/** A user with clients of all protocols at the nodes of a fleet. */
export interface Clients {
  /** The user at the node of this place if it runs, else at another one. */
  caller(index?: number): Promise<Caller>
  client(): Promise<AdminClient>
  /** Asks by a protocol, again until there is a response. @returns the id of the answer */
  ask(door: Door, content: string, index: number): Promise<Asked>
  read(door: Door, asked: Asked, options: { index: number; isRestless: boolean }): Promise<Report>
  /** Stops an answer by a protocol. @returns when that was acknowledged; `undefined` if it had ended before */
  stop(door: Door, message_id: string): Promise<number | undefined>
  door(): Door
  connections(): number
  /** Those who still read. */
  reading(): string[]
  /** Ends all reading. */
  leave(): void
}

/** Creates the clients of one user. */
export function createClients(
  fleet: Fleet,
  person: Omit<Caller, 'base_url'>,
  { random, fault }: { random: () => number; fault: (text: string) => void },
): Clients {
  const leaving = new AbortController()
  const reading = new Set<string>()
  let connections = 0

  async function caller(index = -1): Promise<Caller> {
    const { base_url } = fleet.at(index) ?? (await fleet.pick())
    return { ...person, base_url }
  }

  const clientOf = ({ base_url, key }: Caller) => createAdminClient({ base_url, api_key: key })
  const client = async () => clientOf(await caller())

  return {
    caller,
    client,
    leave: () => leaving.abort(),
    connections: () => connections,
    reading: () => [...reading],
    door: () => DOORS[Math.floor(random() * DOORS.length)]!,

    async ask(door, content, index) {
      const key = `key-${Math.floor(random() * 2 ** 31)}-${Math.floor(random() * 2 ** 31)}`
      const position = await untilServed(async () => {
        const { stream_position } = await (await client()).conversations.get(person.conversation_id)
        return stream_position!
      })
      const message_id = await untilServed(async () => door.ask(await caller(index), { content, key }))
      return { message_id, question: content, position }
    },

    async read(door, asked, { index, isRestless }) {
      let isFirst = true
      const name = `${door.name}, the answer ${asked.message_id} (${asked.question})`
      reading.add(name)
      const report = await door.read({
        asked,
        async caller() {
          const at = await caller(isFirst ? index : -1)
          isFirst = false
          return at
        },
        leaveAfter: () => (isRestless ? 1 + Math.floor(random() ** 2 * MAX_FRAMES) : Number.POSITIVE_INFINITY),
        signal: leaving.signal,
        fault: (text) => fault(`${name}: ${text}`),
        onConnect: () => connections++,
      })
      reading.delete(name)
      return { ...report, door, asked, at: performance.now() }
    },

    async stop(door, message_id) {
      const at = await caller()
      const read = () => clientOf(at).messages.get(message_id)
      try {
        await door.stop(at, message_id)
      } catch (error) {
        if (!isUnderWay(await read())) return undefined
        throw error
      }
      const stopped = performance.now()
      const { status } = await read()
      if (isUnderWay({ status })) fault(`the answer ${message_id} was stopped by ${door.name}, and is ${status}`)
      return status === 'cancelled' ? stopped : undefined
    },
  }
}

/** Repeats a request until a node has answered it: a kill leaves some without a response. */
async function untilServed<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!isLost(error)) throw error
      await sleep(PAUSE_MS)
    }
  }
}

/** Decides on all calls that wait, each time by another protocol. */
export function startDeciding(
  clients: Clients,
  { signedIn, random, fault }: { signedIn(): Promise<AdminClient>; random: () => number; fault(text: string): void },
) {
  const abort = new AbortController()
  let decisions = 0

  async function decide(call: WaitingCall & { tool: { name: string } }): Promise<void> {
    const approve = random() < 0.8
    try {
      // A call that may have happened before is asked for with a rule that lets no key decide.
      if (call.tool.name === 'refund') await clients.door().decide(await clients.caller(), call, approve)
      else await (await signedIn()).approvals.decide(call.call_id, { approve })
      decisions++
    } catch (error) {
      // Its answer may have ended.
      if (!isLost(error) && !isConflict(error)) fault(`not decided: ${error}`)
    }
  }

  async function run(): Promise<void> {
    while (!abort.signal.aborted) {
      const query = { state: 'waiting', mine: true, limit: 200 } as const
      const { approvals } = await untilServed(async () => (await signedIn()).approvals.list(query))
      for (const call of approvals) await decide(call)
      await sleep(PAUSE_MS)
    }
  }
  const over = run()
  return {
    decisions: () => decisions,
    async stop() {
      abort.abort()
      await over
    },
  }
}

function isConflict(error: unknown): boolean {
  if (error instanceof Refused) return error.code === 409 || error.code === 'conflict'
  return error instanceof ChatError && error.code === 'conflict'
}
