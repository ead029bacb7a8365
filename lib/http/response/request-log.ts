import type { Opening } from '../../chat/events/service.ts'
import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import type { AnyRoute } from '../../endpoint.ts'

/** The fields of a log line: no header, no body, no query, no raw path, no address. */
export interface RequestEntry {
  request_id: string
  method: string
  /** The template; missing for an unknown path. */
  route?: string | undefined
  status: number
  /** Milliseconds until the response was sent; of a stream, until it ended. */
  ms: number
  /** The signed-in user. */
  user_id?: string | undefined
  /** The server key of the call, beside the user as which it acts. */
  server_key?: string | undefined
}

/** Logs a request when it has ended, if it is to be logged. */
export type RequestLog = (route: LoggedRoute | undefined, entry: RequestEntry) => void

/** What decides how a request of a route is logged. */
export type LoggedRoute = Partial<Pick<AnyRoute, 'answer' | 'log' | 'waits'>>

/** A slower response is logged as a problem. */
const SLOW_MS = 1_000

/** Logs requests as `log.requests` configures. Probes are logged at the level debug only. */
export function createRequestLog(config: Config, log: Log): RequestLog {
  return (route, entry) => {
    const { requests } = config.log
    if (requests === 'none') return
    const isProbe = route?.log === 'debug'
    const mayBeLong = route?.answer === 'stream' || route?.answer === 'frames' || route?.waits
    const isTrouble = !isProbe && (entry.status >= 500 || (entry.ms > SLOW_MS && !mayBeLong))
    if (!isTrouble && requests !== 'all') return
    // Named one by one, so that no other field of an entry is logged.
    const { request_id, method, status, ms } = entry
    const fields: RequestEntry = { request_id, method, status, ms: Math.round(ms * 10) / 10 }
    if (entry.route !== undefined) fields.route = entry.route
    if (entry.user_id !== undefined) fields.user_id = entry.user_id
    if (entry.server_key !== undefined) fields.server_key = entry.server_key
    log[isProbe ? 'debug' : isTrouble ? 'warn' : 'info']('request', fields)
  }
}

/** Makes a stream call `onEnd` once: when it ends, or fails to start. */
export function untilEnd(opening: Opening, onEnd: () => void): Opening {
  let over = false
  const end = () => {
    if (!over) onEnd()
    over = true
  }
  const { headers } = opening
  return {
    ...(headers && { headers }),
    connect(sink) {
      const ending = () => {
        sink.end()
        end()
      }
      const aborting = () => {
        sink.abort!()
        end()
      }
      const leave = opening.connect({ ...sink, end: ending, ...(sink.abort && { abort: aborting }) })
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
