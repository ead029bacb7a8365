import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { createMissedIntervals } from '../core/scheduling/missed-intervals.ts'
import { warnOnce } from '../core/scheduling/once.ts'
import { BUILD } from '../core/version.ts'
import type { Ephemeral } from '../live/transaction/transaction.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import { ownPlace } from './process-place.ts'
import { createSignalPoll, type PollResult } from './signal-poll.ts'
import type { Signal } from './signals.ts'
import { insertNode } from './store.ts'

/** After a longer pause of this process signals may be missing. */
const MISSED_MS = 8_000

/** For so long after the last other process has gone, or after the start, users may be known by it. */
const PEERS_MS = 20_000

/** What a process does with the news of the others. */
export interface PeerHandler {
  /** The number of open streams of this process. */
  countStreams(): number
  /** How long ago this process has last seen what others have committed, in milliseconds. */
  unheardFor(): number
  /** Delivers what other processes have committed, and then ephemeral events of theirs. */
  receive(events: Ephemeral[]): Promise<void>
  /** The place of a user's oldest stream whose client reads nothing, maybe of this process, was given to a new stream. */
  endStalled(stalled: NonNullable<Signal['stalled_stream']>): void
  /** Publishes the presence of these users if it has changed. */
  reconsider(userIds: string[]): void
  /**
   * This process was alone, and is no longer: it lets the other know all its users, since what it announced until then
   * reached no other process.
   */
  meet(): Promise<void>
  /** The process was away: what it knows of others, and others of it, may be outdated. */
  renew(): Promise<void>
}

interface ReceiverDeps {
  db: Database
  /** Whether the processes meet in a file of their own, without which each is alone. */
  usesSignalFile: boolean
  config: { cluster: Pick<Config['cluster'], 'poll_ms' | 'instance'> }
  log: Log
  metrics: Pick<Metrics, 'polled'>
  /** Writes what this process notes of itself to its row. */
  noteDetails: () => Promise<void>
  /** Reads the configuration of this process again. */
  reload: (request: string) => Promise<void>
}

/** Reads what the other processes have sent, and counts them. */
export function createReceiver(
  id: string,
  { db, usesSignalFile, config, log, metrics, reload, noteDetails }: ReceiverDeps,
) {
  const { poll, recount, forget } = createSignalPoll(db, id)
  let others: ReadonlySet<string> = new Set()
  const missed = createMissedIntervals(config.cluster.poll_ms)
  let peers_until = 0
  let polled_at = performance.now()
  const fail = warnOnce((error: unknown) => log.warn('Other processes cannot be heard', { cause: causeText(error) }))

  async function pollAndReact(peerHandler: PeerHandler): Promise<void> {
    const previous_at = polled_at
    const isMissed = () => performance.now() - previous_at > MISSED_MS
    // Signals of this time may be deleted already.
    if (isMissed()) forget()
    polled_at = performance.now()
    const result = await poll()
    metrics.polled((performance.now() - polled_at) / 1000)
    await missed.act(() => react(result, isMissed(), peerHandler))
  }

  async function react(result: PollResult | undefined, isLongAgo: boolean, peerHandler: PeerHandler): Promise<void> {
    // Also those of the time that the look itself has taken: it may have waited for a connection.
    const isFirst = result && (result.isFirst || isLongAgo)
    const wasSingleNode = others.size === 0
    if (result) others = new Set(result.others)
    if (isFirst || others.size > 0) peers_until = performance.now() + PEERS_MS
    if (isFirst || result?.hasOwnRow === false) {
      // First: after a crash of PostgreSQL the row is gone, and the users of a process without one count as offline.
      await insertNode(db, id, BUILD, ownPlace(config.cluster.instance))
      await noteDetails()
      await peerHandler.renew()
    } else if (wasSingleNode && others.size > 0) await peerHandler.meet()
    const news = (result?.bodies ?? []).map((body) => JSON.parse(body) as Signal)
    // Not awaited: events do not wait for it. A failed answer is requested again.
    for (const { reload_request } of news) if (reload_request) reload(reload_request).catch(() => {})
    if (news.length > 0) await handleSignals(news, peerHandler)
  }

  return {
    isSingleNode: () => others.size === 0,
    /** Whether this is another process with the same database. */
    isNode: (nodeId: string) => others.has(nodeId),
    hasPeers: () => performance.now() < peers_until,
    expect: missed.expect,
    isLate: missed.isLate,
    age: missed.age,
    countNodes: () => others.size + 1,
    /** Call this if this process may have removed others. */
    recount,

    async listen(peerHandler: PeerHandler): Promise<void> {
      try {
        await pollAndReact(peerHandler)
        missed.arrived()
        fail.reset()
      } catch (error) {
        // What was missed is unknown.
        forget()
        if (usesSignalFile) others = new Set()
        fail(error)
      }
    },
  }
}

/** Acts on signals of others. */
export async function handleSignals(signals: Signal[], peerHandler: PeerHandler): Promise<void> {
  for (const { stalled_stream } of signals) if (stalled_stream) peerHandler.endStalled(stalled_stream)
  peerHandler.reconsider(signals.flatMap((signal) => signal.user_ids))
  await peerHandler.receive(signals.flatMap((signal) => signal.events))
}
