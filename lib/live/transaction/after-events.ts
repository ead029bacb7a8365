import type { EventAfter, Log, PersistedEvent } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import { warnOnce } from '../../core/scheduling/once.ts'
import { createWorkers } from '../../core/scheduling/workers.ts'
import { type History, toEventName } from '../../storage/histories.ts'
import type { Source } from '../conversation/channel.ts'
import { createIndex } from '../readers/index-by.ts'
import type { Commit, EventRange } from './commits.ts'

/** How many events may wait. Beyond them new ones are dropped: a slow host costs no memory. */
const MAX_WAITING = 10_000

/** Up to how many waiting events are kept in memory, and how many characters of them. The others are read from the log. */
const MAX_KEPT = { events: 500, characters: 8 * 1024 * 1024 }

/** The number of conversations whose events are passed on at the same time. */
const CONCURRENCY = 16

/** How long the host may take for an event; then it gets the next one. */
const TIMEOUT_MS = 250

/** How many events of a conversation are read at once. */
const PAGE = 64

/** How long what was read may be passed on: a message may be edited or deleted while the host is slow. */
const FRESH_MS = 1_000

/** How long `close` waits for the events that were committed before. */
const CLOSE_TIMEOUT_MS = 2_000

/** The events of a commit in one conversation. */
interface Range extends Omit<EventRange, 'conversation_id'> {
  /** The number of the commit: functions that were added later do not get it. */
  commit: number
}

/** A range that waits, and how many characters of its events are kept. */
interface Waiting extends Range {
  characters: number
  /** When it was committed, by `performance.now()`. */
  at: number
}

/** Passes the events that this process has committed on to the host. */
export interface AfterEvents {
  /**
   * Calls a function with each event of a type, after the hook.
   *
   * @returns a function that ends this
   */
  on(type: EventAfter['type'], listener: Listener): () => void
  /** Whether there is a function to call. */
  isWanted(): boolean
  /** Adds the events that were just committed. */
  committed(commit: Pick<Commit, 'ranges' | 'privates'>): void
  /** Resolves when no event waits. */
  idle(): Promise<void>
  /** Waits a short time for the events that wait, and drops the rest. */
  close(): Promise<void>
}

/** A function of the host. What it throws is logged. */
export type Listener = (event: EventAfter) => unknown

interface Deps {
  hook: Listener | undefined
  /** The log of a conversation. */
  sourceOf: (conversationId: string) => Pick<Source, 'read'>
  /** For each of these events, the host's own ids of the users that it names. */
  subjectsIn: (events: readonly unknown[]) => Promise<Record<string, string>[]>
  listHistories: () => Promise<History[]>
  log: Log
}

/** Creates the queue of one process. The events of a conversation are passed on one after the other. */
export function createAfterEvents(deps: Deps): AfterEvents {
  const lanes = createLanes()
  const listeners = createListeners(deps.log)
  const isWanted = () => deps.hook !== undefined || listeners.hasAny()
  const { passRange, failed } = createPassing(deps, listeners.of, () => isClosed)
  let count = 0
  let characters = 0
  let isClosed = false
  const dropped = warnOnce(() =>
    deps.log.warn(`hooks.afterEvent is too slow: ${MAX_WAITING} events wait, new ones are dropped`),
  )
  const workers = createWorkers({ concurrency: CONCURRENCY, next: lanes.take, work, onIdle: dropped.reset })

  async function work({ id, range }: { id: string; range: Waiting }): Promise<void> {
    await passRange(id, range).catch((error) => failed(causeText(error)))
    lanes.release(id)
    count -= sizeOf(range)
    characters -= range.characters
  }

  /** Drops the events themselves where too much of them is kept. */
  function bounded({ known, ...range }: Range): Waiting {
    const size = count < MAX_KEPT.events && known.length > 0 ? JSON.stringify(known).length : 0
    const isKept = size > 0 && characters + size <= MAX_KEPT.characters
    return { ...range, known: isKept ? known : [], characters: isKept ? size : 0, at: performance.now() }
  }

  function add(conversationId: string, range: Range): void {
    if (count + sizeOf(range) > MAX_WAITING) {
      dropped()
      return
    }
    const waiting = bounded(range)
    count += sizeOf(waiting)
    characters += waiting.characters
    lanes.add(conversationId, waiting)
    workers.wake()
  }

  return {
    on: listeners.add,
    isWanted,
    committed({ ranges, privates }) {
      // Without a function of the host no event is kept.
      if (isClosed || !isWanted()) return
      const commit = listeners.nextCommit()
      for (const { conversation_id, ...range } of [...ranges, ...privates]) add(conversation_id, { ...range, commit })
    },
    idle: workers.idle,
    async close() {
      await withDeadline(workers.idle(), CLOSE_TIMEOUT_MS, undefined)
      isClosed = true
      lanes.clear()
    },
  }
}

/** The ranges that wait, by conversation. A conversation is busy while one of its ranges is passed on. */
function createLanes() {
  const waiting = new Map<string, Waiting[]>()
  const busy = new Set<string>()
  return {
    add(id: string, range: Waiting): void {
      const ranges = waiting.get(id)
      if (ranges) ranges.push(range)
      else waiting.set(id, [range])
    },
    /** Takes the next range of a conversation that is not busy, which is then busy. Conversations take turns. */
    take(): { id: string; range: Waiting } | undefined {
      for (const [id, ranges] of waiting) {
        // As many are busy as there are workers: one that is not is found soon.
        if (busy.has(id)) continue
        busy.add(id)
        waiting.delete(id)
        const range = ranges.shift()!
        if (ranges.length > 0) waiting.set(id, ranges)
        return { id, range }
      }
      return undefined
    },
    release: (id: string) => void busy.delete(id),
    clear: () => waiting.clear(),
  }
}

type Failed = ReturnType<typeof warnOnce<[cause: string]>>

/** A function of the host, and the warning of the first of its failures in a row. */
interface Called {
  listener: Listener
  failed: Failed
  /** The last commit before it was added. */
  since: number
  isOff?: true
}

/** The functions that are called with the events of a type. */
function createListeners(log: Log) {
  const byType = createIndex<Called>()
  let commit = 0
  return {
    hasAny: () => byType.size() > 0,
    of: byType.get,
    /** @returns the number of the next commit */
    nextCommit: () => ++commit,
    add(type: string, listener: Listener): () => void {
      // An object of its own: the same function may be added twice.
      const called: Called = {
        listener,
        failed: warnOnce((cause: string) => log.warn('A function of chat.on has failed', { cause })),
        since: commit,
      }
      byType.add(type, called)
      return () => {
        called.isOff = true
        byType.remove(type, called)
      }
    },
  }
}

/** Calls the hook, and then the functions of its type, with the events of a range, read from the log unless they are known. */
function createPassing(
  { hook, sourceOf, subjectsIn, listHistories, log }: Deps,
  listenersOf: (type: string) => Iterable<Called>,
  isClosed: () => boolean,
) {
  const failed = warnOnce((cause: string) => log.warn('hooks.afterEvent has failed', { cause }))

  async function call(called: Pick<Called, 'listener' | 'failed' | 'isOff'>, event: EventAfter): Promise<void> {
    const { listener, failed } = called
    try {
      // Another function may have turned this one off a moment ago.
      const calling = Promise.resolve().then(() => (called.isOff ? undefined : listener(event)))
      const late = await withDeadline(calling, TIMEOUT_MS, 'late')
      if (late === 'late') failed(`it took longer than ${TIMEOUT_MS} ms`)
      else failed.reset()
    } catch (error) {
      failed(causeText(error))
    }
  }

  async function pass(event: EventAfter, commit: number): Promise<void> {
    if (hook) await call({ listener: hook, failed }, event)
    const due = [...listenersOf(event.type)].filter(({ since }) => since < commit)
    if (due.length > 0) await Promise.all(due.map((called) => call(called, event)))
  }

  return {
    failed,
    /** A read that fails loses the rest of the range. */
    async passRange(conversation_id: string, { first, last, known, ids, at, commit }: Waiting): Promise<void> {
      const histories = await listHistories()
      let page = { lines: known, at }
      const isFresh = () => performance.now() - page.at < FRESH_MS
      for (let next = first; next <= last && !isClosed(); ) {
        if (page.lines.length === 0 || !isFresh()) {
          const read_at = performance.now()
          page = { lines: (await sourceOf(conversation_id).read(next - 1, PAGE)).lines, at: read_at }
        }
        const { lines } = page
        const subjects = await subjectsIn(lines.map(({ event }) => event))
        page = { ...page, lines: [] }
        if (lines.length === 0) break
        for (const [index, { seq, event, for_user_id }] of lines.entries()) {
          if (seq > last || isClosed()) return
          next = seq + 1
          const id = toEventName(histories, ids[seq - first]!)
          const place = for_user_id === undefined ? { seq } : { for_user_id }
          const more = { id, conversation_id, ...place, subjects: subjects[index]! }
          // The objects of the log belong to the streams: what the host changes in its own reaches no one else.
          if (event) await pass({ ...(structuredClone(event) as PersistedEvent), ...more } as EventAfter, commit)
          if (!isFresh()) break
        }
      }
    },
  }
}

const sizeOf = ({ first, last }: Range) => last - first + 1
