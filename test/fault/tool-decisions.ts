import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatClient } from '../../lib/client/index.ts'
import { ChatError } from '../../lib/core/errors.ts'

const PAUSE_MS = 50

/** Decisions on the calls that wait, and what their responses said. */
export interface Decisions {
  /** The outcome of each call that was acknowledged: whether it was approved. */
  outcomes: ReadonlyMap<string, boolean>
  faults: string[]
  stop(): Promise<void>
}

/** Decides on all calls of a conversation that wait, at random: once, twice, or on two nodes at once. */
export function startDecisions(pick: () => Promise<ChatClient>, random: () => number): Decisions {
  const outcomes = new Map<string, boolean>()
  const faults: string[] = []
  const abort = new AbortController()

  async function decide(call_id: string, approve: boolean): Promise<void> {
    const client = await pick()
    const decided = await unlessKilled(() => client.approvals.decide(call_id, { approve }), faults)
    if (!decided) return
    const known = outcomes.get(call_id)
    if (known !== undefined && known !== approve) faults.push(`the call ${call_id} was approved and denied`)
    outcomes.set(call_id, approve)
  }

  async function decideSomehow(call_id: string): Promise<void> {
    const approve = random() < 0.8
    const way = random()
    if (way < 0.4) return decide(call_id, approve)
    if (way < 0.6) return decide(call_id, approve).then(() => decide(call_id, approve))
    await Promise.all([decide(call_id, approve), decide(call_id, way < 0.8 ? approve : !approve)])
  }

  async function run(): Promise<void> {
    while (!abort.signal.aborted) {
      const client = await pick()
      const list = await unlessKilled(() => client.approvals.list({ state: 'waiting', mine: true, limit: 200 }), faults)
      await Promise.all((list?.approvals ?? []).map(({ call_id }) => decideSomehow(call_id)))
      await sleep(PAUSE_MS)
    }
  }
  const over = run()

  return {
    outcomes,
    faults,
    async stop() {
      abort.abort()
      await over
    },
  }
}

/** @returns `undefined` if a kill has left the request without a response, or another decision was first */
async function unlessKilled<T>(request: () => Promise<T>, faults: string[]): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    const isExpected = !(error instanceof ChatError) || ['conflict', 'unavailable'].includes(error.code)
    if (!isExpected) faults.push(String(error))
    return undefined
  }
}
