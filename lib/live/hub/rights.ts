import type { CloseReason } from '../../context.ts'
import { forEachConcurrently } from '../../core/scheduling/concurrently.ts'
import { repeatIfCalled, singleFlight } from '../../core/scheduling/once.ts'
import { oncePerTurn } from '../../core/scheduling/once-per-turn.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Revocation } from '../log/revocations.ts'
import type { Reader, StreamSources } from '../readers/reader.ts'
import type { Streams } from './streams.ts'

/**
 * The age that the known rights may have when events are delivered. A process that stood still, or whose database did,
 * looks them up before it delivers what has happened since.
 */
const OLDEST_MS = 2_000

/** How many streams `recheckNext` checks. */
const ROUND = { least: 100, calls: 30 }

/** How many observers look up what revocations mean to them at the same time. */
const OBSERVERS_CONCURRENCY = 8

/** How many revocations wait for the observers at most. */
const MAX_UNTOLD = 1_000

type Observer = (revocations: Revocation[]) => Promise<void>

interface RightsDeps {
  streams: Pick<Streams, 'all' | 'ofUser' | 'ofConversation'>
  findRefusals: StreamSources['findRefusals']
  close: (reader: Reader, reason: CloseReason) => void
  /** Delivers the new events of a conversation. */
  advance: (conversationId: string) => Promise<void> | undefined
  now: () => Micros
}

/** Closes streams whose session, user or participation has ended. */
export function createRights({ streams, findRefusals, close, advance, now }: RightsDeps) {
  const takeNext = createRound(streams)
  const expiry = createExpiry()
  const observers = new Set<Observer>()
  let untold: Revocation[] = []
  const tellObservers = repeatIfCalled(async () => {
    const revocations = untold
    untold = []
    // One that cannot look them up misses them, as a stream whose client is gone.
    const tell = (observe: Observer) => observe(revocations).catch(() => {})
    await forEachConcurrently([...observers], OBSERVERS_CONCURRENCY, tell)
  })

  /** Not awaited: deliveries wait for a recheck, and there may be any number of observers. */
  function tell(revocations: Revocation[]): void {
    if (observers.size === 0 || revocations.length === 0) return
    // While many wait, all is looked up.
    untold = untold.length < MAX_UNTOLD ? [...untold, ...revocations] : [{}]
    void tellObservers()
  }

  function concernedBy({ user_id, conversation_id }: Revocation): Iterable<Reader> {
    if (user_id) return streams.ofUser(user_id)
    return conversation_id ? streams.ofConversation(conversation_id) : streams.all()
  }

  /** Closes a stream; one of a conversation gets the event of its user's removal before, from whichever process. */
  async function end(reader: Reader, reason: CloseReason): Promise<void> {
    // Rights end also when the log cannot be read. What the log has by now is not for a reader who never participated.
    const isOfParticipant = reader.conversation_id && !reader.is_outside
    if (reason === 'removed' && isOfParticipant) await advance(reader.conversation_id!)?.catch(() => {})
    close(reader, reason)
  }

  async function recheck(suspects: Reader[]): Promise<void> {
    if (suspects.length === 0) return
    const refusals = await findRefusals(suspects)
    expiry.note(suspects)
    await Promise.all(refusals.map(([reader, reason]) => end(reader, reason)))
  }

  // Deliveries await it, and `end` awaits deliveries: so it does not await `end`. The log ends the stream of a removed user.
  const { knownAt, refresh } = createFreshness(async () => {
    const suspects = [...streams.all()]
    for (const [reader, reason] of await findRefusals(suspects)) void end(reader, reason)
    expiry.note(suspects)
  })

  return {
    /** The caller has looked up what has ended before this instant of `performance.now()`. */
    knownAt,
    /** Call this between the read of events and their delivery. Closes the streams that must end, if that is not known. */
    refresh,

    /** Closes the stream if it must end. */
    recheckOne: gather(recheck),
    async recheckAll(): Promise<void> {
      await recheck([...streams.all()])
      tell([{}])
    },
    /** Rechecks the streams that revocations concern. */
    async recheckConcerned(revocations: Revocation[]): Promise<void> {
      await recheck([...new Set(revocations.flatMap((change) => [...concernedBy(change)]))])
      tell(revocations)
    },
    /**
     * Calls a function with the revocations of all processes from now on: a stream of all conversations stays open when one of
     * them is deleted, and gets no event of it.
     *
     * @returns a function that stops it
     */
    observe(observer: Observer): () => void {
      observers.add(observer)
      return () => observers.delete(observer)
    },
    /** Rechecks the streams whose session may have expired since the last check. */
    async recheckExpired(): Promise<void> {
      const at = now()
      if (at <= expiry.earliest()) return
      // After a failure of the look-up the same ones are found again.
      await recheck([...streams.all()].filter((reader) => reader.expires_at < at))
      expiry.reset(streams.all())
    },

    /** Rechecks the next streams: all of them within a minute, if it is called every two seconds. */
    recheckNext: () => recheck(takeNext()),
  }
}

/** Keeps until when rights are known. @param lookUp looks all of them up */
function createFreshness(lookUp: () => Promise<void>) {
  let checkedAt = Number.NEGATIVE_INFINITY
  const knownAt = (instant: number): void => {
    checkedAt = Math.max(checkedAt, instant)
  }
  const lookUpAll = singleFlight(async () => {
    const began = performance.now()
    await lookUp()
    knownAt(began)
  })

  /** One in progress may have looked before the events of the caller were committed: another one follows it. */
  async function renew(): Promise<void> {
    for (const due = performance.now() - OLDEST_MS; checkedAt < due; ) await lookUpAll()
  }

  return {
    knownAt,
    refresh: (): Promise<void> | undefined => (performance.now() - checkedAt > OLDEST_MS ? renew() : undefined),
  }
}

/** No session of a stream expires before the earliest instant that is noted, however many streams there are. */
function createExpiry() {
  let earliest = Number.POSITIVE_INFINITY
  const note = (readers: Iterable<Reader>) => {
    for (const { expires_at } of readers) if (expires_at < earliest) earliest = expires_at
  }
  return {
    earliest: () => earliest,
    note,
    /** Notes these instead of all from before. */
    reset(readers: Iterable<Reader>): void {
      earliest = Number.POSITIVE_INFINITY
      note(readers)
    },
  }
}

/** @returns a function that takes the next streams of a round through all of them */
function createRound(streams: Pick<Streams, 'all'>): () => Reader[] {
  let round: Iterator<Reader> = [].values()
  return () => {
    const readers = streams.all()
    const next: Reader[] = []
    const most = Math.max(ROUND.least, Math.ceil(readers.size / ROUND.calls))
    while (next.length < Math.min(most, readers.size)) {
      const { value, done } = round.next()
      if (done) round = readers.values()
      else next.push(value)
    }
    return next
  }
}

/** Thousands of streams may come back at once: those of one turn of the event loop are looked up together. */
function gather(recheck: (readers: Reader[]) => Promise<void>): (reader: Reader) => Promise<void> {
  const arrived: Reader[] = []
  const recheckArrived = oncePerTurn(() => recheck(arrived.splice(0)))
  return (reader) => {
    arrived.push(reader)
    return recheckArrived()
  }
}
