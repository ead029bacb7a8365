import type { ChatError } from '../../core/errors.ts'
import type { Reply } from '../response/serialize.ts'

/** A page, with when what has failed may be tried again. */
export function withRetry(reply: Reply, { retry_after_seconds }: ChatError): Reply {
  if (retry_after_seconds === undefined) return reply
  return { ...reply, headers: [...reply.headers, ['retry-after', String(retry_after_seconds)]] }
}
