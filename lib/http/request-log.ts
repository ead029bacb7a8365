import type { Opening } from '../chat/events/service.ts'
import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import type { AnyRoute } from '../endpoint.ts'

/** All that the log tells of a request: no header, no body, no query, no path as it was sent, no address. */
export interface RequestEntry {
  request_id: string
  method: string
  /** The template; missing where no route has such a path. */
  route?: string | undefined
  status: number
  /** Milliseconds until the answer was made; of a stream, for which it was open. */
  ms: number
  /** Who was signed in. */
  user_id?: string | undefined
}

/** Writes a line for a request that is over, if its kind gets one. */
export type RequestLog = (route: AnyRoute | undefined, entry: RequestEntry) => void

/** An answer that takes longer is one that people wait for. */
const SLOW_MS = 1_000

/** Tells the log of requests, as `log.requests` has it. Probes are told at the level of debugging only. */
export function createRequestLog(config: Config, log: Log): RequestLog {
  const { requests } = config.log
  if (requests === 'none') return () => {}
  return (route, entry) => {
    const isProbe = route?.log === 'debug'
    const isTrouble = !isProbe && (entry.status >= 500 || (entry.ms > SLOW_MS && route?.answer !== 'stream'))
    if (!isTrouble && requests !== 'all') return
    // Named one by one: whatever else an entry may come to hold is not written.
    const { request_id, method, status, ms } = entry
    const fields: RequestEntry = { request_id, method, status, ms: Math.round(ms * 10) / 10 }
    if (entry.route !== undefined) fields.route = entry.route
    if (entry.user_id !== undefined) fields.user_id = entry.user_id
    log[isProbe ? 'debug' : isTrouble ? 'warn' : 'info']('request', fields)
  }
}

/** The same opening, which calls `onEnd` once: when its stream is over, or does not begin. */
export function untilEnd(opening: Opening, onEnd: () => void): Opening {
  let over = false
  const end = () => {
    if (!over) onEnd()
    over = true
  }
  return {
    connect(sink) {
      const ending = () => {
        sink.end()
        end()
      }
      const leave = opening.connect({ ...sink, end: ending })
      return () => {
        leave()
        end()
      }
    },
    cancel() {
      opening.cancel()
      end()
    },
  }
}
