import { setTimeout as sleep } from 'node:timers/promises'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import { openRaw, type RawEvent, type RawStream } from './raw-reader.ts'

/** Readers that lose their connection again and again and reconnect with the last id they have. */
export interface FollowersOptions {
  /** The address of the next connection; pending while no service runs. */
  target(): Promise<string> | string
  conversation_id: string
  cookie: string
  /** The id to start from. */
  from: string
  readers: number
  /** The number of bytes after which a connection is closed; never, if missing. */
  cutAfter?: () => number
  /** Gets each event of the first reader as it arrives. */
  onEvent?: (event: ConversationStreamEvent) => void
}

/** The result of the readers. */
export interface Figures {
  readers: number
  events: number
  reconnects: number
  /** Failures, as texts: a gap, a repeat, an event out of order, a reset. */
  faults: string[]
  /** The content of each log number for the first reader: a message, a chunk, an end, or an event type. */
  log: Map<number, string>
}

export interface Followers {
  /** The number of reconnects so far. */
  reconnects(): number
  /** Waits until every reader has got the event with that id, and ends. */
  finish(last: string): Promise<Figures>
  /** Ends at once. */
  stop(): Promise<void>
}

/** The pause after a refusal: the service may have lost its database. */
const REFUSED_MS = 20

/** Starts readers of one conversation. */
export function startFollowers(options: FollowersOptions): Followers {
  const followers = Array.from({ length: options.readers }, (_, index) => startFollower(options, index))
  const reconnects = () => followers.reduce((sum, each) => sum + each.reconnects(), 0)
  return {
    reconnects,
    async finish(last) {
      for (const each of followers) each.endAt(seqOf(last))
      const logs = await Promise.all(followers.map((each) => each.over))
      const first = logs[0]!
      const differences = logs.flatMap((log, index) =>
        [...log].filter(([seq, what]) => first.get(seq) !== what).map(([seq]) => `reader ${index} differs at ${seq}`),
      )
      return {
        readers: followers.length,
        events: logs.reduce((sum, log) => sum + log.size, 0),
        reconnects: reconnects(),
        faults: [...followers.flatMap((each) => each.faults), ...differences],
        log: first,
      }
    },
    async stop() {
      for (const each of followers) each.endAt(0)
      await Promise.all(followers.map((each) => each.over))
    },
  }
}

function startFollower({ target, cutAfter, from, onEvent: tell, ...options }: FollowersOptions, index: number) {
  const log = new Map<number, string>()
  const faults: string[] = []
  let last = from
  let end = Number.POSITIVE_INFINITY
  let connections = 0
  let current: RawStream | undefined

  function onEvent({ id, event }: RawEvent): void {
    const fault = (what: string) => faults.push(`reader ${index} after ${last}: ${what} ${id ?? ''}`)
    if (event.type === 'stream.reset') fault(`reset as ${event.payload.reason}`)
    if (event.type === 'stream.ready' && (id !== last || !event.payload.resumed)) fault('not resumed, but at')
    if (id === undefined || event.type === 'stream.ready') return
    const expected = seqOf(last) + 1
    const seq = seqOf(id)
    if (seq !== expected) fault(seq > expected ? 'a gap before' : log.has(seq) ? 'a repeat of' : 'out of order')
    log.set(seq, noteOf(event))
    if (index === 0) tell?.(event)
    last = id
    if (seq >= end) current!.cut()
  }

  async function run(): Promise<Map<number, string>> {
    while (seqOf(last) < end) {
      const base_url = await target()
      if (seqOf(last) >= end) break
      const cut = cutAfter && { cut_after: cutAfter() }
      current = openRaw({ ...options, ...cut, base_url, last_event_id: last, onEvent })
      connections++
      if ((await current.over) === 'refused') await sleep(REFUSED_MS)
    }
    return log
  }

  return {
    over: run(),
    faults,
    reconnects: () => Math.max(0, connections - 1),
    endAt(seq: number): void {
      end = seq
      if (seqOf(last) >= end) current?.cut()
    },
  }
}

/** What an event is about: a message, a chunk of text or of a part, an end, or else its type. */
export function noteOf({ type, payload }: ConversationStreamEvent): string {
  if (type === 'message.new') return payload.message.id
  if (type === 'message.delta') return `${payload.id} ${payload.choices[0]!.delta.content}`
  if (type === 'message.part') return `${type} ${payload.message_id}:${payload.idx} ${JSON.stringify(payload.part)}`
  if (type === 'message.done') return `${type} ${payload.message_id} ${payload.finish_reason}`
  return type
}

/** The number in an event's id. */
export function seqOf(id: string): number {
  return Number(id.slice(id.indexOf('.') + 1))
}
