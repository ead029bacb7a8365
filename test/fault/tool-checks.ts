import { readFileSync } from 'node:fs'
import { hasEnded } from '../../lib/chat/answers/rules-calls.ts'
import type { PartChange } from '../../lib/chat/answers/schema-parts.ts'
import type { ChatClient, Message } from '../../lib/client/index.ts'
import { CALLS, IDEMPOTENT, type Start } from './tool-script.ts'

type ToolPart = Extract<NonNullable<Message['parts']>[number], { type: 'tool' }>

/** How often an idempotent call starts at most. */
const MAX_STARTS = 3

/** What the checks of answers compare them with. */
export interface Evidence {
  /** The calls that have begun, by their id, as the file of effects has them. */
  starts: ReadonlyMap<string, Start[]>
  /** What a reader of the stream has got, by the log number. */
  log: ReadonlyMap<number, string>
  /** The acknowledged decisions: whether a call was approved. */
  outcomes: ReadonlyMap<string, boolean>
}

/** The lines of the file of effects, by call. */
export function readStarts(file: string): Map<string, Start[]> {
  const starts = new Map<string, Start[]>()
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const [call_id = '', attempt, name = ''] = line.split(' ')
    starts.set(call_id, [...(starts.get(call_id) ?? []), { call_id, attempt: Number(attempt), name }])
  }
  return starts
}

/** An answer that has ended, its calls, and what is wrong with them. */
export async function examineRun(
  client: ChatClient,
  message_id: string,
  { starts, log, outcomes }: Evidence,
): Promise<{ message: Message; calls: ToolPart[]; faults: string[] }> {
  const message = await client.messages.get(message_id)
  const chunks = await client.answers.listChunks(message_id, { limit: 1000 })
  const calls = (message.parts ?? []).filter((part) => part.type === 'tool')
  const said = chunks.map(({ idx, content, part }) =>
    part ? `message.part ${message_id}:${idx} ${JSON.stringify(part)}` : `${message_id}:${idx} ${content}`,
  )
  const told = [...log.values()].filter((note) => note.includes(`${message_id}:`))
  const ends = [...log.values()].filter((note) => note.startsWith(`message.done ${message_id} `))
  const checks: [holds: boolean, fault: string][] = [
    [['complete', 'interrupted'].includes(message.status), `is ${message.status}`],
    [message.status !== 'complete' || calls.length === CALLS, `is complete with ${calls.length} calls`],
    [told.join('\n') === said.join('\n'), `was told as\n${told.join('\n')}\nnot as\n${said.join('\n')}`],
    [ends.join() === `message.done ${message_id} ${message.finish_reason}`, `ended as ${ends}`],
    [chunks.map(({ content }) => content).join('') === message.content, 'is not what its chunks are'],
    [foldedCalls(chunks) === JSON.stringify(calls.map(stateOf)), 'has other calls than its chunks'],
  ]
  const faults = checks.filter(([holds]) => !holds).map(([, fault]) => `the answer ${message_id} ${fault}`)
  for (const call of calls) faults.push(...faultsOfCall(call, starts.get(call.call_id) ?? [], outcomes))
  return { message, calls, faults }
}

function faultsOfCall(
  { call_id, name, state, error }: ToolPart,
  starts: Start[],
  outcomes: Evidence['outcomes'],
): string[] {
  const max = IDEMPOTENT.has(name) ? MAX_STARTS : 1
  const isApproved = outcomes.get(call_id)
  const attempts = starts.map(({ attempt }) => attempt)
  const checks: [holds: boolean, fault: string][] = [
    [hasEnded(state), 'has not ended'],
    [starts.length <= max, `has started ${starts.length} times`],
    [new Set(attempts).size === attempts.length, `has started as ${attempts}`],
    [state !== 'done' || starts.length > 0, 'has not started'],
    [!['denied', 'expired', 'cancelled'].includes(state) || starts.length === 0, 'has started'],
    [isApproved !== false || state === 'denied', 'was denied'],
    [isApproved !== true || state !== 'denied', 'was approved'],
    [state !== 'failed', `has failed: ${error?.code}`],
  ]
  return checks.filter(([holds]) => !holds).map(([, fault]) => `the call ${call_id} (${name}, ${state}) ${fault}`)
}

const stateOf = ({ id, state }: { id: number; state?: string }) => ({ id, state })

/** The calls as the rows of an answer make them. */
function foldedCalls(chunks: readonly { part?: PartChange }[]): string {
  const calls = new Map<number, PartChange>()
  for (const { part } of chunks) {
    if (part?.type === 'tool') calls.set(part.id, { ...calls.get(part.id), ...part })
  }
  return JSON.stringify([...calls.values()].map(stateOf))
}
