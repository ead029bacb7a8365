import type { WebhookOptions } from 'chat'
import { isTransient, pause } from '../client/backoff.ts'
import type { ChatClient } from '../client/types.ts'
import {
  type AppliedEvent,
  createReceiver,
  type Receiver,
  type ReceiveStore,
  type WebhookKeys,
} from '../receive/index.ts'
import { retryPause } from '../receive/outages.ts'
import { type HandOver, handingOver, type Preparation } from './handing-over.ts'
import { assertWhole, EVENT_TYPES, type Incoming, prepare } from './incoming.ts'

interface ReceivingDeps {
  client: ChatClient
  // biome-ignore lint/suspicious/noExplicitAny: the adapter writes nothing in the transaction, of any database
  store: ReceiveStore<any>
  source: string
  keys: WebhookKeys
  /** @throws TypeError before the SDK has begun */
  incoming(): Incoming
}

/** How events arrive. */
interface Arrival {
  /** How the SDK waits for the handlers of a call. */
  webhook?: WebhookOptions
  /** Ends the waiting for the service. Without it a failure is thrown: the service repeats a call. */
  signal?: AbortSignal
}

/** What receives the events of an adapter. */
export interface Receiving {
  /** Takes a call of a webhook. */
  handle(request: Request, webhook?: WebhookOptions): Promise<Response>
  /** Reads events from the service, until it is aborted, or ended. */
  pull(options: { signal?: AbortSignal; from?: string }): Promise<void>
  /** Ends what reads. It resolves when nothing is under way any more. */
  end(): Promise<void>
}

const NOT_HANDED = 'An event was not handed over'

/** @throws ReceiveError `malformed` for a store or keys that are none */
export function createReceiving({ client, store, source, keys, incoming }: ReceivingDeps): Receiving {
  const stopping = new AbortController()
  const running = new Set<Promise<unknown>>()
  const log = () => incoming().chat.getLogger(source)
  const handing = handingOver(store, (error) => log().error(NOT_HANDED, { error }))
  // What is wrong with a store or a key is said at once, and not to the first call.
  createReceiver({ ...optionsFor({}), store })

  function optionsFor(arrival: Arrival) {
    return {
      ...keys,
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
  }

  const receiverFor = (arrival: Arrival): Receiver => createReceiver({ ...optionsFor(arrival), store: handing })

  /** Receives, which the end waits for. */
  async function receive<T>(work: () => Promise<T>): Promise<T> {
    incoming()
    const received = work()
    running.add(received)
    return await received.finally(() => running.delete(received))
  }

  return {
    handle: (request, webhook) => receive(() => receiverFor({ ...(webhook && { webhook }) }).fetch(request)),
    async pull({ signal, ...from }) {
      const ending = AbortSignal.any([stopping.signal, ...(signal ? [signal] : [])])
      const receiver = receiverFor({ signal: ending })
      await receive(() => receiver.pull(client, { ...from, types: EVENT_TYPES, signal: ending })).catch((error) => {
        // It ends, and what it was reading is not applied.
        if (error !== ending.reason) throw error
      })
    },
    async end() {
      stopping.abort()
      await Promise.allSettled(running)
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
        // Only then: it may have been handed over before, and what it is about have gone since.
        return () => log.error(NOT_HANDED, { error, event })
      }
      if (!signal) throw error
      log.warn('An event waits for the service', { error, id: event.id })
      await pause(retryPause(error, failures), signal)
      signal.throwIfAborted()
    }
  }
}
