import type { H3Event } from 'h3'
import { contextOf } from '../core/context-of.ts'
import { handle, type Resource, type Service } from './handle.ts'
import { isPlainlySpelled, statusOfMalformedEvent } from './request/malformed.ts'
import { PROBLEM } from './response/error-shapes.ts'
import { toRequestId } from './response/headers.ts'
import { send } from './response/send.ts'
import { type Reply, toChatError, toFailure } from './response/serialize.ts'
import type { WebPage } from './web-page.ts'

/** Adds what responds at the paths of the page. */
export function addPage(
  at: (path: string, respond: (event: H3Event) => unknown) => void,
  service: Service,
  page: WebPage,
): void {
  for (const path of page.paths) at(path, (event) => answer(service, page, path, event))
}

/** A page can only be read. */
const READ_ONLY: Resource = { GET: undefined }

async function answer(service: Service, page: WebPage, route: string, event: H3Event): Promise<unknown> {
  const started = performance.now()
  const { method, headers } = event.req
  // What is no file of the page is an unknown path of the service.
  const unknown = () => handle(service, '/**', {}, event)
  if (statusOfMalformedEvent(event) || !isPlainlySpelled(event, route === '/')) return unknown()
  const request_id = toRequestId(headers)
  const reply = await replyOf(service, page, event).catch((error) => failure(service, request_id, error))
  if (reply.status === 404) return unknown()
  if (reply.status === 405) return handle(service, route, READ_ONLY, event)
  const ms = performance.now() - started
  service.requestLog(undefined, { request_id, method, route, status: reply.status, ms })
  const own = new Set(reply.headers.map(([name]) => name))
  const common = service.headers.of(request_id, null).filter(([name]) => !own.has(name))
  return send(event, { ...reply, headers: [...common, ...reply.headers] })
}

async function replyOf({ chat }: Service, page: WebPage, { req }: H3Event): Promise<Reply> {
  const response = await page.fetch(req, { photos: pictureOrigins(chat) })
  const body = response.body && new Uint8Array(await response.arrayBuffer())
  // The length of a body is that of what is sent; without one, as with HEAD, it is that of what is not.
  const headers = [...response.headers].filter(([name]) => body === null || name !== 'content-length')
  return { status: response.status, headers, body }
}

/** Where photos of users and pictures of assistants are, besides the service. */
function pictureOrigins(chat: Service['chat']): string[] {
  const { config, assistants } = contextOf(chat)
  const pictures = assistants.offered.flatMap(({ avatar_url }) => (avatar_url ? new URL(avatar_url).origin : []))
  return [...new Set([...config.avatars.hosts, ...pictures])]
}

function failure({ chat }: Service, request_id: string, error: unknown): Reply {
  contextOf(chat).log.error('Request failed', { request_id, cause: String(error) })
  return toFailure(toChatError(error), PROBLEM, request_id)
}
