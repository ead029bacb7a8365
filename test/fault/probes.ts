import { setTimeout as sleep } from 'node:timers/promises'
import type { SignedHeaders } from '../support/stream.ts'
import type { ServeProcess } from './serving.ts'

/** A pause between two requests of a kind, which leaves the processor to what is tested. */
const PAUSE_MS = 25

/** A response is awaited for so long. */
const TIMEOUT_MS = 60_000

/** The responses of a node to requests of one kind. */
export interface Probe {
  /** The number of responses by status; 0 is none. */
  statuses(): Map<number, number>
  /** The longest time of a response, in milliseconds. */
  slowest_ms(): number
  /** The ids of the messages that it has stored. */
  stored: Set<string>
  /** Waits for another response with this status. */
  next(status: number): Promise<void>
  /** Forgets the responses so far. */
  reset(): void
  /** Sends no requests, after the last response, until `resume`. */
  pause(): Promise<void>
  resume(): void
  /** Sends no more requests, and waits for the last response. */
  stop(): Promise<void>
}

/** A request that is sent again and again. */
export interface ProbeRequest {
  method?: 'GET' | 'POST'
  path: string
  body?: object
}

/** Sends a request to a node again and again. */
export function startProbe(
  { base_url }: ServeProcess,
  headers: SignedHeaders,
  { method = 'GET', path, body }: ProbeRequest,
): Probe {
  const statuses = new Map<number, number>()
  const stored = new Set<string>()
  let slowest = 0
  let isOver = false
  let isPaused = false
  let asking: Promise<number> | undefined

  async function ask(): Promise<number> {
    try {
      const response = await fetch(base_url + path, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body!.cancel()
      else {
        const { message_id } = (await response.json()) as { message_id?: string }
        if (message_id) stored.add(message_id)
      }
      return response.status
    } catch {
      return 0
    }
  }

  const work = (async () => {
    while (!isOver) {
      if (isPaused) {
        await sleep(PAUSE_MS)
        continue
      }
      const began = performance.now()
      asking = ask()
      const status = await asking
      slowest = Math.max(slowest, performance.now() - began)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await sleep(PAUSE_MS)
    }
  })()

  return {
    statuses: () => statuses,
    slowest_ms: () => slowest,
    stored,
    async next(status) {
      const before = statuses.get(status) ?? 0
      while ((statuses.get(status) ?? 0) === before && !isOver) await sleep(10)
    },
    reset() {
      statuses.clear()
      slowest = 0
    },
    async pause() {
      isPaused = true
      await asking
    },
    resume() {
      isPaused = false
    },
    async stop() {
      isOver = true
      await work
    },
  }
}
