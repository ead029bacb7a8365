import type { Cluster } from '../../cluster/cluster.ts'
import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createSlots } from '../../core/scheduling/slots.ts'
import { SECOND } from '../../core/units.ts'
import type { Hub } from '../../live/hub/hub.ts'
import type { Database } from '../../storage/database.ts'
import type { Kv } from '../../storage/kv.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { createAudience } from './audience.ts'
import { createHeartbeats } from './heartbeats.ts'
import { createLocalSessions } from './local-sessions.ts'
import { createLookup } from './lookup.ts'
import { createPlaces } from './places.ts'
import { createPublishing } from './publishing.ts'
import { createRemotePresence } from './remote-presence.ts'
import { createStreamCounts } from './stream-counts.ts'

interface WatchDeps {
  db: Database
  kv: Kv
  hub: Hub
  cluster: Cluster
  log: Log
  now: () => Micros
  broadcast_participants: number
  /** After so long without a report a process counts as dead. */
  dead_seconds: number
}

/**
 * After this many sweeps, which is five to ten seconds, users who are no longer known are published as offline: after a
 * crash of PostgreSQL each process must first add its users again, which takes up to two of its beats.
 */
const SWEEPS_UNTIL_GONE = 2

/** How often the reading of a bot is noted. */
const READING_MICROS = 20 * SECOND

/** The number of bots whose reading is remembered. */
const MAX_READING = 10_000

/** The presence of users, as this process and those beside it know it. */
export type PresenceWatch = ReturnType<typeof createPresenceWatch>

/**
 * Keeps the presence of users, and publishes changes to the conversations that they are in.
 *
 * @param deps.broadcast_participants a conversation with more participants gets no presence events
 */
export function createPresenceWatch(deps: WatchDeps) {
  const { hub, log, now } = deps
  const { heartbeats, remotePresence, localSessions, lookup, publishing, changed, counts, outdated, introduce } =
    createParts(deps)
  /** When bots were noted as reading, the oldest first. */
  const readings = new Map<string, Micros>()

  /** Sets the status of a user; without a stream it is valid for a minute. */
  async function heartbeat(userId: string, status: Presence['status']): Promise<void> {
    await heartbeats.set(userId, status, now())
    remotePresence.heartbeatReceived(userId, status)
    publishing.add(userId)
  }

  return {
    ...lookup,
    heartbeat,

    /** A bot asks for its events, or has received one: it is online for the next minute. A store that fails loses it. */
    noteReading(userId: string): void {
      const at = now()
      const last = readings.get(userId)
      if (last !== undefined && Math.abs(at - last) < READING_MICROS) return
      readings.delete(userId)
      readings.set(userId, at)
      const [oldest] = readings.keys()
      if (readings.size > MAX_READING) readings.delete(oldest!)
      void heartbeat(userId, 'online').catch(() => {})
    },

    /** Publishes the status of a new participant to its conversation. A failure is logged: the user has joined already. */
    introduce: (conversationId: string, userId: string): Promise<void> =>
      introduce(conversationId, userId).catch((error) =>
        log.warn('The presence of a new participant could not be sent', { cause: causeText(error) }),
      ),

    /** A stream of the user was opened or closed. A recently set status stays valid. */
    streamsChanged(userId: string): void {
      localSessions.count(userId, hub.countStreams(userId))
      counts.changed(userId)
    },

    ...createPlaces({ ...deps, counts }),

    /** Publishes the users whose status has expired, and all changes so far. */
    async sweep(): Promise<void> {
      localSessions.endDue()
      publishing.expire()
      counts.retry()
      const due = [...remotePresence.due(publishing.isPresent), ...remotePresence.nextUnstored(), ...outdated.due()]
      for (const userId of due) publishing.add(userId)
      await publishing.flush()
    },

    /** Other processes know more of these users: publishes what has changed, at once. */
    reconsider(userIds: readonly string[]): void {
      remotePresence.changedElsewhere(userIds)
      for (const userId of userIds) publishing.add(userId)
      if (userIds.length > 0) void publishing.flush()
    },

    /** Lets other processes know all users of this one again, and reads what they know. Users who are unknown wait. */
    async renew(): Promise<void> {
      for (const userId of [...localSessions.userIds(), ...remotePresence.startAgain()]) changed(userId)
      for (const userId of await remotePresence.listPresent()) publishing.add(userId)
      outdated.expect()
      await publishing.flush()
    },

    /** Publishes no further changes. */
    async close(): Promise<void> {
      localSessions.close()
      await Promise.all([counts.close(), publishing.close()])
    },
  }
}

/** The parts of a presence watch; each owns its state. */
function createParts(deps: WatchDeps) {
  const { kv, hub, cluster, log, now } = deps
  const heartbeats = createHeartbeats(kv)
  const audience = createAudience(deps)
  const inOrder = createSlots<'users'>({ perKey: 1, maxWaitingPerKey: 1 }).run
  const remotePresence = createRemotePresence({ ...deps, inOrder })
  const localSessions = createLocalSessions(now, (userId) => changed(userId))
  const ownStreams = (userId: string) => ({
    streams: hub.countStreams(userId),
    stalled_since: hub.stalled.oldestOf(userId)?.since,
  })
  const counts = createStreamCounts({ ...deps, ownStreams, inOrder })
  const lookup = createLookup({ heartbeats, localSessions, remotePresence, ownStreams, counts, now })
  const find = lookup.findWithStreams
  const publishing = createPublishing({ hub, log, audience, find, store, announce: cluster.announceUsers })

  function changed(userId: string): void {
    remotePresence.changed(userId)
    publishing.add(userId)
  }

  /** Stores what has changed here since the last call. @returns the users whose presence may differ by it */
  async function store(): Promise<string[]> {
    await heartbeats.seen(localSessions.takeSeen())
    return remotePresence.store(lookup.findOwn)
  }

  async function introduce(conversationId: string, userId: string): Promise<void> {
    if (!(await audience.isSmall(conversationId))) return
    const payload = { user_id: userId, ...(await lookup.find(userId)) }
    hub.publishEphemeral(conversationId, { type: 'presence.update', payload })
  }

  const outdated = createOutdated(publishing.publishedUserIds)
  return { heartbeats, remotePresence, localSessions, lookup, publishing, changed, counts, outdated, introduce }
}

/** The published users, who may be unknown by now. @param publishedUserIds called when they are due */
function createOutdated(publishedUserIds: () => string[]) {
  let sweeps = 0
  return {
    expect(): void {
      sweeps = SWEEPS_UNTIL_GONE
    },
    /** Called at each sweep; returns none at most of them. */
    due: (): string[] => (sweeps > 0 && --sweeps === 0 ? publishedUserIds() : []),
  }
}
