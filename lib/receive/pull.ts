import { randomUUID } from 'node:crypto'
import { pause } from '../client/backoff.ts'
import { applyOnce } from './apply-once.ts'
import { isOutage, isRefusedForNow, retryPause, withDeadline } from './outages.ts'
import { ReceiveError } from './receive-error.ts'
import type { ReceiveStore } from './receive-store.ts'
import type { AppliedEvent, Effect, ReceiveReset } from './received-event.ts'

/** A page of `GET /api/feed`. */
export interface PulledPage {
  events: readonly object[]
  position: string
  more?: true
  reset?: { reason: string }
}

/** What `pull` asks for. */
export interface PullQuery {
  after?: string
  types?: string
  limit?: number
  wait_seconds?: number
}

/** What `pull` needs of `createChatClient`. */
export interface PullClient {
  feed: { read(query: PullQuery, options: { signal?: AbortSignal }): Promise<PulledPage> }
}

/** The options of `receiver.pull`. */
export interface PullOptions {
  /** Types of events: a list, or separated by commas. Default: all but `message.delta` and `message.part`. */
  types?: readonly string[] | string
  /** Ends it: the page under way is applied, or is not. */
  signal?: AbortSignal
  /** The position at which it begins if none is stored. Default: now. */
  from?: string
}

/** What pulled events are applied to. */
export interface PullTarget<Tx> {
  store: ReceiveStore<Tx>
  source: string
  effect: Effect<Tx>
  reset: (tx: Tx, reset: ReceiveReset) => unknown
}

/** Many events of a page share one commit; one that is rolled back is not long. */
const PAGE = 100

/** Proxies end requests that are silent for a minute. */
const WAIT_SECONDS = 40

/** A connection that is lost without a word is given up. */
const READ_MS = (WAIT_SECONDS + 20) * 1000

/** After an empty page: a service that drains answers at once. */
const EMPTY_MS = 100

/** Applies the pages of the feed, one after the other. */
export async function pullEvents<Tx>(
  target: PullTarget<Tx>,
  client: PullClient,
  { types, signal, from, ...others }: PullOptions,
): Promise<void> {
  const [unknown] = Object.keys(others)
  if (unknown) throw new ReceiveError('malformed', `pull has no "${unknown}"`)
  if (typeof client?.feed?.read !== 'function')
    throw new ReceiveError(
      'malformed',
      'pull: pass a client: receiver.pull(createChatClient({ … }), { types, signal })',
    )
  const { store, source } = target
  const query = { ...(types && { types: String(types) }), limit: PAGE, wait_seconds: WAIT_SECONDS }
  let failures = 0

  /** @throws what no waiting mends */
  async function afterFailure(error: unknown, isPassing: boolean): Promise<undefined> {
    if (!isPassing) throw error
    await pause(retryPause(error, failures++), signal)
  }

  /** A page, and the stored position that it was read at; `undefined` if neither could be read. */
  async function next(): Promise<{ page: PulledPage; after: string | null } | undefined> {
    const positions = await store.positions(source).catch((error) => afterFailure(error, isOutage(error)))
    if (!positions || signal?.aborted) return
    const start = positions.pulled ?? from ?? positions.pushed
    const asked = { ...query, ...(start !== undefined && { after: start }) }
    const page = await withDeadline(READ_MS, signal, (ending) => client.feed.read(asked, { signal: ending })).catch(
      (error) => afterFailure(error, signal?.aborted === true || isRefusedForNow(error)),
    )
    return page && { page, after: positions.pulled ?? null }
  }

  while (!signal?.aborted) {
    const read = await next()
    if (!read || signal?.aborted) continue
    const { page, after } = read
    try {
      await applyPage(target, page, after)
      failures = 0
    } catch (error) {
      await afterFailure(error, isOutage(error))
      continue
    }
    if (page.events.length === 0 && !page.more && after !== null) await pause(EMPTY_MS, signal)
  }
}

/** @returns without an effect where another process has applied the page */
async function applyPage<Tx>(
  { store, source, effect, reset }: PullTarget<Tx>,
  { events, position, reset: lost }: PulledPage,
  after: string | null,
): Promise<void> {
  if (lost) {
    const { reason } = lost
    // A reset has no id: the position decides whether it was made before.
    const id = `reset_${randomUUID()}`
    const run = (tx: Tx) => reset(tx, { reason, position })
    await store.apply({ source, ids: [id], run, move: { cursor: 'pulled', from: after, to: position } })
    return
  }
  if (events.length === 0 && position === after) return
  const applied = events as readonly AppliedEvent[]
  await applyOnce(store, source, applied, effect, { after, position }).catch((error) => {
    if ((error as ReceiveError).code !== 'position_moved') throw error
  })
}
