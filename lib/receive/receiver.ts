import { applyOnce, assertApplicable } from './apply-once.ts'
import { createFetchHandler } from './fetch-handler.ts'
import { createNodeHandler, type NodeReceiver } from './node-handler.ts'
import { type PullClient, type PullOptions, pullEvents } from './pull.ts'
import { ReceiveError } from './receive-error.ts'
import type { Forgetting, ReceiveStore } from './receive-store.ts'
import type { AppliedEvent, Effect, ReceiveReset } from './received-event.ts'
import { createVerifier, type WebhookBody, type WebhookHeaders, type WebhookKeys } from './verify-webhook.ts'

/** The options of {@link createReceiver}. Without `secrets` and `public_keys` it only pulls. */
export interface ReceiverOptions<Tx> extends WebhookKeys {
  /** `pgStore(pool)`, `sqliteStore(db)`, or one of your own. */
  store: ReceiveStore<Tx>
  /** Names where the events come from: each has its own ids and positions. */
  source: string
  /** Called once for each event, in the transaction `tx` of your database. */
  effect: Effect<Tx>
  /** Called when events are missing, in the transaction that stores where they continue. */
  reset?: (tx: Tx, reset: ReceiveReset) => unknown
  /** Gets what a call was refused for, beside the answer: an effect that threw, a database that is away. */
  onError?: (error: unknown) => void
  /** How old or early a call may be. @default 300 */
  tolerance_seconds?: number
}

/** Applies the events of one source once each. */
export interface Receiver {
  /** For `node:http` and Express: `app.post('/events', receiver.node)`, before a parser of bodies. */
  node: NodeReceiver
  /** For servers with `Request` and `Response`. */
  fetch: (request: Request) => Promise<Response>
  /**
   * Reads the feed until it is aborted, and through outages of the service and of the database. It begins where it
   * stopped; at first now, or at `from`.
   *
   * @throws ReceiveError `reset_required` when events are lost and there is no `reset`; what an effect throws, or a
   *   refusal of the service: its page is not applied
   */
  pull(client: PullClient, options?: PullOptions): Promise<void>
  /** Lets events be applied again that were applied since a time, such as for a replay of the webhook. */
  forget(forgetting: Forgetting): Promise<void>
}

/** What is answered to a call. */
export interface ReceiveAnswer {
  status: number
  body: Record<string, unknown>
}

/** The status of each refusal; 500 makes the service repeat the event. */
const STATUS: Record<string, number> = { signature: 401, timestamp: 401, malformed: 400 }

/** Makes what receives the events of a service by webhook, from the feed, or both, and applies each once. */
export function createReceiver<Tx>(options: ReceiverOptions<Tx>): Receiver {
  if (!options || typeof options !== 'object')
    throw new ReceiveError('malformed', 'createReceiver: pass { store, source, secrets, effect }')
  const { store, source, effect, onError, tolerance_seconds } = options
  assertApplicable(store, source, effect)
  const hasKeys = options.secrets !== undefined || options.public_keys !== undefined
  const verify = hasKeys ? createVerifier(options, tolerance_seconds) : undefined

  async function receive(headers: WebhookHeaders, body: unknown): Promise<ReceiveAnswer> {
    try {
      if (!verify) throw new ReceiveError('signature', 'Pass the "secrets" of the webhook, or its "public_keys"')
      return { status: 200, body: await settle(verify(headers, body)) }
    } catch (error) {
      return refuse(error)
    }
  }

  async function settle(event: WebhookBody): Promise<Record<string, unknown>> {
    switch (event.type) {
      case 'webhook.challenge':
        return { challenge: event.data.challenge }
      case 'webhook.test':
        return {}
      case 'webhook.gap':
        await settleGap(event)
        return {}
      default: {
        const { applied } = await applyOnce(store, source, [event as unknown as AppliedEvent], effect)
        return { applied }
      }
    }
  }

  async function settleGap({ id, data }: WebhookBody): Promise<void> {
    const { cursor, reason, ...gap } = data as { cursor: string; reason: string }
    await store.apply({
      source,
      ids: [id],
      run: (tx) => resetOf(options)(tx, { reason, position: cursor, gap }),
      move: { cursor: 'pushed', to: cursor },
    })
  }

  function refuse(error: unknown): ReceiveAnswer {
    onError?.(error)
    // What an effect throws may name secrets of the receiver.
    if (!(error instanceof ReceiveError)) return { status: 500, body: { code: 'internal' } }
    const { code, message } = error
    return { status: STATUS[code] ?? 500, body: { code, message } }
  }

  return {
    node: createNodeHandler(receive, refuse),
    fetch: createFetchHandler(receive, refuse),
    pull: (client, pulling = {}) => pullEvents({ store, source, effect, reset: resetOf(options) }, client, pulling),
    forget: (forgetting) => {
      if (!(forgetting?.since instanceof Date) || Number.isNaN(forgetting.since.getTime()))
        throw new ReceiveError('malformed', 'forget: pass { since: new Date(…) }')
      return store.forget(source, forgetting)
    },
  }
}

/** The `reset` of a receiver. Without one it throws, and nothing of the transaction commits. */
function resetOf<Tx>({ reset }: ReceiverOptions<Tx>): (tx: Tx, reset: ReceiveReset) => unknown {
  return (
    reset ??
    ((_tx, { reason }) => {
      throw new ReceiveError(
        'reset_required',
        `Events are missing (${reason}): give createReceiver a "reset" that reads again what you keep`,
      )
    })
  )
}
