import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import { assertStarted } from '../../core/lifecycle.ts'
import type { Service } from '../handle.ts'
import { bodyTimeout, readParams } from '../request/body.ts'
import { respondAt } from '../response/own-path.ts'
import { refusePrefetch } from '../response/redirect.ts'
import { type Reply, toChatError } from '../response/serialize.ts'
import { noticePage } from './page.ts'
import { withRetry } from './retry.ts'
import { decide, page, show, toRequest } from './steps.ts'
import { CONSENT_PATH } from './visitor.ts'

/** The longest form: the parameters of a request, percent-encoded, and a password. */
const MAX_BYTES = 64 * 1024

/** Adds the page of the authorization server. */
export function addConsent(at: (path: string, respond: (event: H3Event) => unknown) => void, service: Service): void {
  at(CONSENT_PATH, (event) => respond(service, event))
}

function respond(service: Service, event: H3Event): Promise<unknown> {
  return respondAt(service, event, {
    path: CONSENT_PATH,
    reply: () => replyTo(service, event),
    toFailure(thrown) {
      const error = toChatError(thrown)
      return withRetry(page(error.status, noticePage(error.message)), error)
    },
  })
}

async function replyTo(service: Service, event: H3Event): Promise<Reply> {
  const { method, headers } = event.req
  const isForm = method === 'POST'
  if (!isForm && method !== 'GET' && method !== 'HEAD') {
    const refusal = page(405, noticePage('This page has no such method.'))
    return { ...refusal, headers: [...refusal.headers, ['allow', 'GET, HEAD, POST']] }
  }
  const ctx = contextOf(service.chat)
  assertStarted(ctx)
  refusePrefetch(headers)
  const ip = service.clientOf(event.req)
  const params = isForm ? await readPosted(service, event) : event.url.searchParams
  const fields = new Map(params)
  if (fields.size < params.size)
    throw new ChatError('bad_request', { message: 'The application has sent a parameter more than once.' })
  const visit = { service, ctx, event, ip, fields, request: toRequest(fields) }
  return isForm ? decide(visit) : show(visit)
}

function readPosted({ chat }: Service, { req, runtime }: H3Event): Promise<URLSearchParams> {
  const source = (runtime?.node?.req as IncomingMessage | undefined) ?? req.body
  return readParams(source, req.headers, { bytes: MAX_BYTES, seconds: bodyTimeout(contextOf(chat).config) })
}
