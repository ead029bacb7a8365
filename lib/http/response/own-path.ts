import type { H3Event } from 'h3'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import type { Service } from '../handle.ts'
import { isPlainlySpelled, statusOfMalformedEvent } from '../request/malformed.ts'
import { type HeaderPair, toRequestId } from './headers.ts'
import { send } from './send.ts'
import type { Reply } from './serialize.ts'

/** What responds at a path that is no route of the API. */
export interface OwnPath {
  path: string
  reply: () => Promise<Reply>
  /** A failure as this path shows it. */
  toFailure: (error: unknown) => Reply
}

/**
 * Responds at a path that is no route of the API: a page, or a call of another protocol. The log has the path alone: queries and
 * bodies have what callers keep secret.
 */
export async function respondAt(
  service: Service,
  event: H3Event,
  { path, reply, toFailure }: OwnPath,
): Promise<unknown> {
  const started = performance.now()
  const { method, headers } = event.req
  const request_id = toRequestId(headers)
  const malformed = statusOfMalformedEvent(event)
  const answer = malformed
    ? { status: malformed, headers: [['connection', 'close']] as HeaderPair[], body: null }
    : await plainly(event, reply).catch((error: unknown) => {
        const failure = toFailure(error)
        if (failure.status === 500)
          contextOf(service.chat).log.error('Request failed', { request_id, route: path, cause: String(error) })
        return failure
      })
  const ms = performance.now() - started
  service.requestLog(undefined, { request_id, method, route: path, status: answer.status, ms })
  const own = new Set(answer.headers.map(([name]) => name))
  const common = service.headers.of(request_id, null).filter(([name]) => !own.has(name))
  const body = method === 'HEAD' ? null : answer.body
  return send(event, { ...answer, body, headers: [...common, ...answer.headers] })
}

async function plainly(event: H3Event, reply: () => Promise<Reply>): Promise<Reply> {
  if (!isPlainlySpelled(event, false)) throw new ChatError('bad_request')
  return reply()
}
