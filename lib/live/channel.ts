import type { EphemeralEvent } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { type Delivered, type Delivery, encode, withIds } from './delivery.ts'
import type { NumberedEvent } from './log.ts'
import type { Head } from './position.ts'

/** A log that can be followed: of one conversation, or of all. */
export interface Source {
  /** Where the log stands; `undefined` when its conversation is deleted. */
  head(): Promise<Head | undefined>
  /** Up to `limit` lines after `seq`, in order; fewer where they are long. */
  read(seq: number, limit: number): Promise<Page>
  /** Whether numbers follow each other, so that a missing one means that an event was deleted. */
  isDense: boolean
}

/** Some lines of a log, and whether they were the last. */
export interface Page {
  lines: NumberedEvent[]
  isLast: boolean
}

/** How many lines of the log are read at a time. */
const PAGE = 64

/** A log, followed in this process. */
export type Channel = ReturnType<typeof createChannel>

/**
 * Follows a log from its end on. The log is the only source: a commit only calls `advance`, since there is more. So nothing is delivered that is not durable, and the order is that of the log.
 *
 * @param deliver is called with what is new, as often as there is more
 */
export function createChannel(source: Source, deliver: (delivery: Delivery) => void) {
  let epoch = ''
  let seq = 0
  const ephemeral = createEphemeralEvents()
  const offered = createOffered()
  let stale = false
  let advancing: Promise<void> | undefined

  const opened = headOf(source).then((head) => {
    epoch = head.epoch
    seq = head.last
  })
  // `advance` rejects with it.
  opened.catch(() => {})

  async function readOn(): Promise<void> {
    try {
      await opened
      while (stale) {
        stale = false
        while (!(await readPage()));
      }
    } finally {
      // In one step with the last look at `stale`: a call in between would wait for a run that looks no more.
      advancing = undefined
    }
  }

  /** @returns whether it was the last one for now */
  async function readPage(): Promise<boolean> {
    // What is published while the log is read may refer to an event that is not in this page.
    const published = ephemeral.list()
    const { lines, isLast } = offered.takeAfter(seq) ?? (await source.read(seq, PAGE))
    const events = [...withIds(epoch, lines), ...(isLast ? ephemeral.take(published) : [])]
    seq = lines.at(-1)?.seq ?? seq
    if (events.length > 0) deliver(encode(events))
    return isLast
  }

  return {
    source,
    /** The last event delivered. */
    position: () => seq,
    /** Reads the log to its end and delivers what is new; during a run, has it check again. @throws ChatError `not_found` */
    advance(): Promise<void> {
      stale = true
      advancing ??= readOn()
      return advancing
    },

    /** Hands in events that were just committed, so that the next run need not read them; the log decides the order. */
    offer: offered.add,
    /** Sends an event that is not stored with the next delivery, where it replaces earlier ones about the same subject. */
    publish: ephemeral.add,
    hasEphemeral: () => !ephemeral.isEmpty(),
    /** What came after `from`, up to `to`, for a reader that is behind; `undefined` when it is not kept. */
    page: (from: number, to: number, bytes: number) => pageOf(source, epoch, { from, to, bytes }),
  }
}

async function headOf(source: Source): Promise<Head> {
  const head = await source.head()
  if (!head) throw new ChatError('not_found')
  return head
}

/** Events that were committed in this process, and wait for their turn in the order of the log. */
function createOffered() {
  const offered: NumberedEvent[] = []
  return {
    add: (events: NumberedEvent[]) => void offered.push(...events),

    /** What comes right after `seq`, if it was offered. What the log has returned meanwhile is dropped. */
    takeAfter(seq: number): Page | undefined {
      offered.sort((a, b) => a.seq - b.seq)
      while (offered.length > 0 && offered[0]!.seq <= seq) offered.shift()
      let count = 0
      while (offered[count]?.seq === seq + 1 + count) count++
      return count > 0 ? { lines: offered.splice(0, Math.min(count, PAGE)), isLast: count < PAGE } : undefined
    },
  }
}

/** Events that are not stored, until the next delivery: the last one of each subject. */
function createEphemeralEvents() {
  const events = new Map<string, Delivered>()
  return {
    add(conversation_id: string, event: EphemeralEvent): void {
      events.set(`${conversation_id} ${subjectOf(event)}`, { conversation_id, event })
    },
    isEmpty: () => events.size === 0,
    list: () => [...events],

    /** Removes these, but for those that a newer one has replaced meanwhile. @returns all of these */
    take(listed: [subject: string, event: Delivered][]): Delivered[] {
      for (const [subject, event] of listed) if (events.get(subject) === event) events.delete(subject)
      return listed.map(([, event]) => event)
    },
  }
}

/**
 * Events of a log after `from`, up to `to`, for a reader that is behind; `undefined` when they are not kept.
 *
 * @param range.bytes no event is added once the page is that long
 */
async function pageOf(
  source: Source,
  epoch: string,
  { from, to, bytes }: { from: number; to: number; bytes: number },
): Promise<(Delivery & { seq: number }) | undefined> {
  const page = (await source.read(from, PAGE)).lines.filter((each) => each.seq <= to)
  if (page.length === 0 && !source.isDense) return { ...encode([]), seq: to }
  if (page.length === 0 || (source.isDense && page[0]!.seq !== from + 1)) return undefined
  const known = page.filter((each) => each.event)
  const delivery = encode(withIds(epoch, known), bytes)
  const isWhole = delivery.events.length === known.length
  return { ...delivery, seq: isWhole ? page.at(-1)!.seq : known[delivery.events.length - 1]!.seq }
}

/** What an event is about: the next one about the same says all that this one did. */
function subjectOf({ type, payload }: EphemeralEvent): string {
  const { root_id, user_id } = payload as { root_id?: string; user_id?: string }
  return [type, root_id, user_id].join()
}
