import type { EphemeralEvent } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { type Delivered, type Delivery, encode, withIds } from './delivery.ts'
import type { NumberedEvent } from './log.ts'
import type { Head } from './position.ts'

/** A log that can be followed: of one conversation, or of all. */
export interface Source {
  /** Where the log stands; `undefined` when it is of a conversation that is gone. */
  head(): Promise<Head | undefined>
  /** Up to `limit` lines after `seq`, in order; fewer where they are long. */
  read(seq: number, limit: number): Promise<Page>
  /** Whether numbers follow each other, so that a missing one means that something is not kept any more. */
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
 * Follows a log from its end on. The log is the only source: whoever commits merely says that there is more, with
 * `advance`. So nothing is delivered that is not durable, and the order is that of the log.
 *
 * @param deliver is called with what is new, as often as there is more
 */
export function createChannel(source: Source, deliver: (delivery: Delivery) => void) {
  let epoch = ''
  let seq = 0
  const ephemeral = new Map<string, Delivered>()
  const offered: NumberedEvent[] = []
  let stale = false
  let advancing: Promise<void> | undefined

  const opened = source.head().then((head) => {
    if (!head) throw new ChatError('not_found')
    ;({ epoch, last: seq } = head)
  })
  // Whoever reads on is told.
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
    // What is published while the log is read may go with an event that is not in this page.
    const published = [...ephemeral]
    const { lines, isLast } = takeOffered() ?? (await source.read(seq, PAGE))
    const said = isLast ? published : []
    for (const [subject, event] of said) if (ephemeral.get(subject) === event) ephemeral.delete(subject)
    const events = [...withIds(epoch, lines), ...said.map(([, event]) => event)]
    seq = lines.at(-1)?.seq ?? seq
    if (events.length > 0) deliver(encode(events))
    return isLast
  }

  /** What was offered and comes next, if something does. What the log has given meanwhile is dropped. */
  function takeOffered(): Page | undefined {
    offered.sort((a, b) => a.seq - b.seq)
    while (offered.length > 0 && offered[0]!.seq <= seq) offered.shift()
    let count = 0
    while (offered[count]?.seq === seq + 1 + count) count++
    return count > 0 ? { lines: offered.splice(0, Math.min(count, PAGE)), isLast: count < PAGE } : undefined
  }

  return {
    source,
    /** The last event delivered. */
    position: () => seq,

    /**
     * Reads the log to its end and delivers what is new. One run at a time; a call during a run makes it look again.
     * Rejects with `not_found` for a conversation that was gone from the start.
     */
    advance(): Promise<void> {
      stale = true
      advancing ??= readOn()
      return advancing
    },

    /** Lays down events that were just committed, so that the next run need not read them; the log stays the measure. */
    offer(events: NumberedEvent[]): void {
      offered.push(...events)
    },

    /** Has an event said with the next delivery, where it stands for earlier ones about the same; nothing is kept of it. */
    publish(conversationId: string, event: EphemeralEvent): void {
      ephemeral.set(`${conversationId} ${subjectOf(event)}`, { conversation_id: conversationId, event })
    },
    hasEphemeral: () => ephemeral.size > 0,

    /**
     * A page of what came after `from` up to `to`, for a reader that is behind; `undefined` when it is not kept.
     *
     * @param bytes no event is added once the page is that long
     */
    async page(from: number, to: number, bytes: number): Promise<(Delivery & { seq: number }) | undefined> {
      const page = (await source.read(from, PAGE)).lines.filter((each) => each.seq <= to)
      if (page.length === 0 && !source.isDense) return { ...encode([]), seq: to }
      if (page.length === 0 || (source.isDense && page[0]!.seq !== from + 1)) return undefined
      const known = page.filter((each) => each.event)
      const delivery = encode(withIds(epoch, known), bytes)
      const isWhole = delivery.events.length === known.length
      return { ...delivery, seq: isWhole ? page.at(-1)!.seq : known[delivery.events.length - 1]!.seq }
    },
  }
}

/** What an event is about: the next one about the same says all that this one did. */
function subjectOf({ type, payload }: EphemeralEvent): string {
  const { root_id, user_id } = payload as { root_id?: string; user_id?: string }
  return [type, root_id, user_id].join()
}
