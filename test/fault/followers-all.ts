import { setTimeout as sleep } from 'node:timers/promises'
import { noteOf } from './followers.ts'
import { openRaw, type RawEvent, type RawStream } from './raw-reader.ts'

/** Readers of all conversations of a user, who reconnect with the last id they have. */
export interface AllFollowersOptions {
  /** The address of the next connection. */
  target(): Promise<string>
  cookie: string
  readers: number
}

/** The result of such readers. */
export interface AllFigures {
  events: number
  reconnects: number
  faults: string[]
  /** What each reader got, in this order: {@link noteOf} of the events of the log. */
  notes: string[][]
}

export interface AllFollowers {
  /** Waits until every reader has got all of these, and ends. */
  finish(notes: string[]): Promise<AllFigures>
  /** Ends at once. */
  stop(): Promise<void>
}

/** Starts readers of all conversations, and waits until all of them are connected. */
export async function startAllFollowers(options: AllFollowersOptions): Promise<AllFollowers> {
  const followers = Array.from({ length: options.readers }, (_, index) => startFollower(options, index))
  await Promise.all(followers.map((each) => each.ready))
  return {
    async finish(notes) {
      for (const each of followers) each.endAfter(notes)
      await Promise.all(followers.map((each) => each.over))
      return {
        events: followers.reduce((sum, each) => sum + each.notes.length, 0),
        reconnects: followers.reduce((sum, each) => sum + each.connections() - 1, 0),
        faults: followers.flatMap((each) => each.faults),
        notes: followers.map((each) => each.notes),
      }
    },
    async stop() {
      for (const each of followers) each.endAfter([])
      await Promise.all(followers.map((each) => each.over))
    },
  }
}

function startFollower({ target, cookie }: AllFollowersOptions, index: number) {
  const notes: string[] = []
  const faults: string[] = []
  const ids = new Set<string>()
  let last: string | undefined
  let missing: Set<string> | undefined
  let connections = 0
  let current: RawStream | undefined
  let setReady = () => {}
  const ready = new Promise<void>((resolve) => (setReady = resolve))
  const isOver = () => missing?.size === 0

  function onEvent({ id, event }: RawEvent): void {
    const fault = (what: string) => faults.push(`reader ${index} of all after ${last}: ${what} ${id ?? ''}`)
    if (event.type === 'stream.reset') fault(`reset as ${event.payload.reason}`)
    if (event.type === 'stream.ready') {
      if (last !== undefined && id !== last) fault('not resumed, but at')
      last ??= id
      setReady()
    }
    if (id === undefined || event.type === 'stream.ready') return
    if (ids.has(id)) fault('a repeat of')
    ids.add(id)
    last = id
    const note = noteOf(event)
    notes.push(note)
    missing?.delete(note)
    if (isOver()) current!.cut()
  }

  async function run(): Promise<void> {
    while (!isOver()) {
      const base_url = await target()
      if (isOver()) break
      current = openRaw({ base_url, cookie, onEvent, ...(last !== undefined && { last_event_id: last }) })
      connections++
      if ((await current.over) === 'refused') await sleep(20)
    }
  }

  return {
    over: run(),
    ready,
    notes,
    faults,
    connections: () => connections,
    endAfter(wanted: string[]): void {
      missing = new Set(wanted.filter((note) => !notes.includes(note)))
      if (isOver()) current?.cut()
    },
  }
}

/** How a stream of all conversations differs from their logs, by the events that name their message. */
export function differencesFrom(logs: string[][], notes: string[]): string[] {
  return logs.flatMap((log, index) => {
    const names = new Set(log.filter(isName))
    const wanted = [...names]
    const got = notes.filter((note) => names.has(note))
    if (got.join() === wanted.join()) return []
    const missing = wanted.filter((note) => !got.includes(note))
    return [`${got.length} of ${wanted.length} events of conversation ${index}, missing ${missing.slice(0, 3)}`]
  })
}

/** Message ids, chunks and ends: each occurs once. */
const isName = (note: string) => note.includes('-')
