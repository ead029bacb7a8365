import type { Bus, Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { withDeadline } from '../core/scheduling/deadline.ts'
import { singleFlight, warnOnce } from '../core/scheduling/once.ts'
import { createThrottle } from '../core/scheduling/throttle.ts'
import type { Metrics } from '../metrics/registry.ts'
import { createOutbox, createSignalQueue, type Signal } from './signals.ts'

/** What follows the first commit for so long goes with the same message. */
const GATHER_MS = 1

/** The least time between two polls that messages cause. */
const POLL_PAUSE_MS = 5

/** How long a call of the bus may take. */
const TIMEOUT_MS = 1_000

/** After a failure the bus is left alone for so long; signals go through the database. */
const RETRY_MS = 5_000

/** The maximum size of a message: the longest signal has 256 KiB of events, or 5,000 ids of users. */
const MAX_BYTES = 300_000

/** The first part of each message; after it the id of the sender, a space, and the signal. */
const PREFIX = 'chat-server 1 '
const HEADER_LENGTH = PREFIX.length + 37

interface LinkDeps {
  bus: Bus
  /** The id of this process. */
  id: string
  /** Whether this is another process with the same database: others may use the same bus. */
  isNode: (id: string) => boolean
  isEphemeral: (event: unknown) => boolean
  /** Passes events on through the database, where the bus fails. */
  store: (events: Signal['events']) => void
  metrics: Metrics
  log: Log
}

/**
 * Passes signals on through the bus of the host, and has the other processes poll at once. Nothing depends on a message:
 * whatever the bus does, polling continues.
 */
export function createBusLink(deps: LinkDeps) {
  const { bus, id, store, metrics, log } = deps
  const publish = createPublish(bus, createGuard(log, 'publish'))
  const outbox = createOutbox({
    gather_ms: GATHER_MS,
    onDropped: metrics.signalsDropped,
    async send(signal) {
      const isSent = await publish(encode(id, signal.body))
      // Users are stored in any case, and counted there.
      const count = signal.user_ids.length > 0 ? 0 : signal.count
      if (isSent) metrics.signalsSent(count)
      else if (count > 0) store((JSON.parse(signal.body) as Signal).events)
      return true
    },
  })
  const inbox = createInbox(deps)
  const subscribe = createSubscribe(bus, createGuard(log, 'subscribe'), inbox.receive)

  return {
    /** Tells the others of a commit, with these events. */
    announce(events: readonly Signal['events'][number][]): void {
      if (events.length > 0) outbox.addEvents(events)
      outbox.ring()
    },
    addUsers: outbox.addUsers,
    start(handle: (signal: Signal) => Promise<void>): void {
      inbox.start(handle)
      subscribe()
    },
    /** Subscribes unless that has succeeded. */
    subscribe,
    flush: outbox.flush,
    async close(): Promise<void> {
      await Promise.all([outbox.close(), inbox.close()])
      await createGuard(log, 'close')(async () => bus.close())
    },
  }
}

type Guard = (call: () => Promise<void>) => Promise<boolean>

/** Calls the bus. @returns false if that failed or took too long, which is logged once in a row */
function createGuard(log: Log, name: keyof Bus): Guard {
  const fail = warnOnce((error: unknown) =>
    log.warn(`The bus fails to ${name}; changes of other processes arrive with the next poll`, {
      cause: causeText(error),
    }),
  )
  return async (call) => {
    try {
      if ((await withDeadline(call(), TIMEOUT_MS, 'late')) === 'late') throw new Error('The bus does not respond')
      fail.reset()
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }
}

/** @returns a function that publishes a message; it returns false if it could not */
function createPublish(bus: Bus, guard: Guard) {
  let retry_at = 0
  let isBusy = false
  return async (bytes: Uint8Array): Promise<boolean> => {
    // Calls that never return must not fill the memory.
    if (isBusy || performance.now() < retry_at) return false
    isBusy = true
    const isSent = await guard(async () => {
      try {
        await bus.publish(bytes)
      } finally {
        isBusy = false
      }
    })
    if (!isSent) retry_at = performance.now() + RETRY_MS
    return isSent
  }
}

function createSubscribe(bus: Bus, guard: Guard, listener: (bytes: Uint8Array) => void): () => void {
  let isSubscribed = false
  // Not the guard's deadline: a call that is late may still succeed, and a second one would double each message.
  const run = singleFlight(async () => {
    const call = (async () => bus.subscribe(listener))().then(() => {
      isSubscribed = true
    })
    await guard(() => call)
    await call.catch(() => {})
  })
  return () => void (isSubscribed || run())
}

/** What has arrived on the bus, until it is acted on. */
function createInbox({ id, isNode, isEphemeral, metrics, log }: LinkDeps) {
  const queue = createSignalQueue(metrics.signalsDropped)
  let handle: ((signal: Signal) => Promise<void>) | undefined
  const refuse = warnOnce((reason: string) => log.warn('A message on the bus is not one of this service', { reason }))
  const throttle = createThrottle(POLL_PAUSE_MS, async () => {
    try {
      await handle?.(queue.take())
    } catch (error) {
      log.error('A message on the bus could not be handled', { cause: causeText(error) })
    }
  })

  /** Never throws: it is called by a client of the host's. */
  function receive(bytes: Uint8Array): void {
    try {
      const sender = senderOf(bytes)
      // Most buses return a message to its sender. A process that has just started is not known yet.
      if (!handle || sender === id || !isNode(sender)) return
      const signal = decode(bytes)
      const events = signal.events.filter(({ event }) => isEphemeral(event))
      metrics.signalsDropped(signal.events.length - events.length)
      queue.addEvents(events)
      queue.addUsers(signal.user_ids)
      throttle.ask()
    } catch (error) {
      metrics.signalsDropped(1)
      refuse(causeText(error))
    }
  }

  return {
    receive,
    start(handler: (signal: Signal) => Promise<void>): void {
      handle = handler
    },
    close(): Promise<void> {
      handle = undefined
      return throttle.close()
    },
  }
}

function encode(id: string, body: string): Uint8Array {
  return new TextEncoder().encode(`${PREFIX}${id} ${body}`)
}

/** @throws Error if it is no message of a service */
function senderOf(bytes: Uint8Array): string {
  if (!(bytes instanceof Uint8Array)) throw new Error('It has no bytes')
  if (bytes.byteLength > MAX_BYTES) throw new Error('It is too long')
  const header = new TextDecoder().decode(bytes.subarray(0, HEADER_LENGTH))
  if (!header.startsWith(PREFIX) || header.length < HEADER_LENGTH) throw new Error('It has another format')
  return header.slice(PREFIX.length, -1)
}

/** @throws Error if it is no signal */
function decode(bytes: Uint8Array): Signal {
  const { events, user_ids } = JSON.parse(
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(HEADER_LENGTH)),
  )
  const isText = (value: unknown) => typeof value === 'string'
  const areEvents = (events as Signal['events']).every(
    (event) =>
      isText(event.conversation_id) &&
      (event.user_id === undefined || isText(event.user_id)) &&
      (event.user_ids === undefined || event.user_ids.every(isText)),
  )
  if (!areEvents || !(user_ids as unknown[]).every(isText)) throw new Error('It has another format')
  return { events, user_ids }
}
