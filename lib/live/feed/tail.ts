import { repeatIfCalled } from '../../core/scheduling/once.ts'
import type { Place } from './feed-order.ts'
import { type Committed, createFeedPages, type FeedPagesDeps } from './feed-pages.ts'

/** Called with the place up to which all events are delivered, and the name of the history. */
type Join = (place: Place, epoch: string) => void

const NOTHING: Committed = { conversations: new Map(), rows: [] }

/** The end of the log of all conversations. */
export type Tail = ReturnType<typeof createTail>

/** Follows the end of the log of all conversations, for the streams of all conversations of a user. */
export function createTail(deps: FeedPagesDeps) {
  const { followers } = deps
  const pages = createFeedPages(deps)
  const joining: Join[] = []
  let isBehind = false

  const readOn = repeatIfCalled(passPages, pages.begin, end)

  async function passPages(): Promise<void> {
    const joins = joining.splice(0)
    await pages.readOn()
    for (const join of joins) join(...pages.reached())
  }

  function end(): void {
    // After a failure some are left, whose callers get its error.
    joining.length = 0
    rest()
  }

  /** Without readers nothing is read. */
  function rest(): void {
    if (followers.count() === 0 && !readOn.current()) pages.forget()
  }

  /** Delivers all new events. A call during a run extends it. @param own a commit of this process, not to be read */
  function advance(own: Committed = NOTHING): Promise<void> {
    pages.add(own)
    if (own.rows.length === 0) isBehind = false
    return readOn()
  }

  return {
    advance,
    rest,
    publish: pages.publish,

    /** Notes new events that concern no reader: they are passed over later. */
    skipped(): void {
      isBehind = true
    },
    /** Whether there may be more to read, although nothing is new. */
    hasSkipped: () => isBehind || pages.isEarly(),

    /** Begins at the end of the log, unless it has begun: from then on it delivers all that is committed. */
    begin: async (): Promise<void> => (pages.hasBegun() ? undefined : advance()),

    /** Calls `join` between two deliveries, when all events that were committed before are delivered. */
    async join(join: Join): Promise<void> {
      joining.push(join)
      await advance()
    },
  }
}
