import type { CloseReason, Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Watch, Watcher } from '../../live/feed/watch.ts'
import type { Sink } from '../../live/readers/reader.ts'
import { toReader } from '../events/service.ts'

/** What ends the wait of a call, and what it is told meanwhile. */
interface VisitSignals {
  signal?: AbortSignal | undefined
  onHeartbeat?: (() => void) | undefined
}

/** What a call waits for. */
export interface Awaited extends Omit<Watcher, 'wake'> {
  ms: number
}

/**
 * Makes a call one of the streams of its user: it has a place among them, and ends as they do. The rights of the actor are
 * those of the moment at which it begins.
 *
 * @param signals.signal ends the wait of the call
 * @param signals.onHeartbeat is called at each heartbeat of the streams
 */
export function createVisit(ctx: Context, actor: Actor, { signal, onHeartbeat }: VisitSignals = {}) {
  const { hub, presence } = ctx.streams
  const ending = createEnding(signal, onHeartbeat)
  const reader = toReader(ctx, actor, ending.sink)
  let leave: (() => void) | undefined
  let waiting: Waiting | undefined

  function assertOpen(): void {
    if (ending.reason() === 'session_ended') throw new ChatError('unauthenticated')
  }

  return {
    /** @throws ChatError `too_many_streams`, `unavailable` */
    async enter(): Promise<void> {
      await presence.takePlace(actor.user_id)
      leave = hub.attach(reader)
    },

    /** Resolves to true when the call should read, and to false when it should return without an event. */
    async wait({ ms, ...awaited }: Awaited): Promise<boolean> {
      if (ms === 0 || ending.isOver()) return false
      if (waiting) return waiting.next()
      waiting = createWaiting(ms, ending)
      hub.present(reader)
      await waiting.watch(hub.watch, awaited)
      // What was committed before it watched is read.
      return true
    },

    /** @throws ChatError `unauthenticated` if the session or key of the actor has ended, or the account is disabled */
    async assertAllowed(): Promise<void> {
      assertOpen()
      await hub.rights.recheckOne(reader)
      assertOpen()
    },

    leave(): void {
      waiting?.stop()
      leave?.()
      ending.forget()
    },
  }
}

type Ending = ReturnType<typeof createEnding>

/** When a call must end, and why: as the hub ends its stream, or because the signal of the caller is aborted. */
function createEnding(signal: AbortSignal | undefined, onHeartbeat: (() => void) | undefined) {
  let reason: CloseReason | 'aborted' | undefined = signal?.aborted ? 'aborted' : undefined
  let onEnd = () => {}

  function end(why: CloseReason | 'aborted'): void {
    reason ??= why
    onEnd()
  }

  const abort = () => end('aborted')
  signal?.addEventListener('abort', abort)
  const sink: Sink = {
    write({ events }) {
      if (events.length === 0) onHeartbeat?.()
      for (const { event } of events) if (event.type === 'stream.closed') end(event.payload.reason)
    },
    pending: () => 0,
    drained: async () => {},
    end: () => end('draining'),
  }
  return {
    sink,
    reason: () => reason,
    isOver: () => reason !== undefined,
    /** Calls a function when the call must end. */
    onEnd(listener: () => void): void {
      onEnd = listener
    },
    forget: () => signal?.removeEventListener('abort', abort),
  }
}

type Waiting = ReturnType<typeof createWaiting>

/** The wait of one call. */
function createWaiting(ms: number, ending: Ending) {
  let state: 'quiet' | 'woken' | 'late' | 'over' = 'quiet'
  let resume = () => {}
  let remove = () => {}

  function become(next: 'woken' | 'late'): void {
    if (state !== 'over') state = next
    resume()
  }

  // It keeps the process alive, as an open stream of the host does.
  const timer = setTimeout(become, ms, 'late')
  ending.onEnd(() => resume())

  return {
    async watch(watch: Watch, awaited: Omit<Watcher, 'wake'>): Promise<void> {
      remove = await watch.add({ ...awaited, wake: () => state === 'quiet' && become('woken') })
    },

    async next(): Promise<boolean> {
      if (state === 'over') return false
      while (state === 'quiet' && !ending.isOver())
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      // At the end it reads once more: the position passes what the call has not asked for.
      state = state === 'late' ? 'over' : 'quiet'
      return !ending.isOver()
    },

    stop(): void {
      clearTimeout(timer)
      remove()
    },
  }
}
