import type { WebhookOptions } from 'chat'
import { isTransient, pause } from '../client/backoff.ts'
import {
  type AppliedEvent,
  createReceiver,
  type Receiver,
  type ReceiveStore,
  type WebhookKeys,
} from '../receive/index.ts'
import { retryPause } from '../receive/outages.ts'
import { assertWhole, type Incoming, prepare } from './incoming.ts'

/** What the receivers of an adapter have in common. */
export interface Receiving {
  // biome-ignore lint/suspicious/noExplicitAny: the adapter writes nothing in the transaction, of any database
  store: ReceiveStore<any>
  source: string
  keys: WebhookKeys
  incoming(): Incoming
}

/** How events arrive. */
export interface Arrival {
  /** How the SDK waits for the handlers of a call. */
  webhook?: WebhookOptions
  /** Ends the waiting for the service. Without it a failure is thrown: the service repeats a call. */
  signal?: AbortSignal
}

/** Hands an event over. */
type HandOver = () => void

/** Reads what an event does not say. */
type Preparation = () => Promise<HandOver>

/** @throws ReceiveError `malformed` for a store or keys that are none */
export function receiverOf({ store, source, keys, incoming }: Receiving, arrival: Arrival = {}): Receiver {
  const log = () => incoming().chat.getLogger(source)
  const options = {
    ...keys,
    store,
    source,
    effect: (_tx: unknown, event: AppliedEvent): Preparation => {
      assertWhole(event)
      return () => patiently(event, incoming(), arrival)
    },
    reset: (_tx: unknown, { reason }: { reason: string }): Preparation => {
      return async () => () => log().warn('Events are missing', { reason })
    },
    onError: (error: unknown) => log().error('An event was refused', { error }),
  }
  // It refuses what is no store.
  createReceiver(options)
  return createReceiver({ ...options, store: handingOver(store, (error) => log().error(NOT_HANDED, { error })) })
}

const NOT_HANDED = 'An event was not handed over'

/**
 * A store whose effects return a preparation: all that a unit needs is read before its transaction, and handed over after
 * it. What was not committed comes again, and nothing of it was handed over.
 */
function handingOver(store: ReceiveStore<unknown>, report: (error: unknown) => void): ReceiveStore<unknown> {
  return {
    migrate: () => store.migrate(),
    positions: (source) => store.positions(source),
    forget: (source, forgetting) => store.forget(source, forgetting),
    async apply(unit) {
      const prepared = new Map<string, HandOver>()
      for (const id of unit.ids) prepared.set(id, await (unit.run(undefined, id) as Preparation)())
      const run: string[] = []
      const applied = (await store.apply({ ...unit, run: (_tx, id) => void run.push(id) })) ?? 0
      // A store tries a unit again: the last attempt has committed, with so many ids.
      for (const id of run.slice(run.length - applied)) {
        try {
          prepared.get(id)!()
        } catch (error) {
          report(error)
        }
        // The SDK takes more steps to the handlers of some types than to those of others.
        await pause(0)
      }
      return applied
    },
  }
}

async function patiently(event: AppliedEvent, to: Incoming, { webhook, signal }: Arrival): Promise<HandOver> {
  const log = to.chat.getLogger(to.adapter.name)
  for (let failures = 0; ; failures++) {
    try {
      return await prepare(event, to, webhook)
    } catch (error) {
      if (!isTransient(error)) {
        log.error(NOT_HANDED, { error, event })
        return () => {}
      }
      if (!signal) throw error
      log.warn('An event waits for the service', { error, id: event.id })
      await pause(retryPause(error, failures), signal)
      signal.throwIfAborted()
    }
  }
}
