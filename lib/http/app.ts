import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event } from 'h3'
import { toNodeHandler } from 'h3/node'
import { basePathOf } from '../config/base-path.ts'
import { contextOf } from '../core/context-of.ts'
import { type NamesOf, refuseUnknown } from '../core/known-names.ts'
import { assertStarted } from '../core/lifecycle.ts'
import { createRequestPriority } from '../core/scheduling/request-priority.ts'
import type { AnyRoute } from '../endpoint.ts'
import { routes } from '../endpoints.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Chat } from '../service.ts'
import { API_GROUPS } from './api-groups.ts'
import { addConsent } from './consent/add.ts'
import { addForms } from './forms/add.ts'
import { type CountedRoute, handle, type Resource } from './handle.ts'
import { addMcp } from './mcp/add.ts'
import { createResponseBatches } from './node/response-batch.ts'
import { createStreamWrites } from './node/stream-writes.ts'
import { addOauth } from './oauth/add.ts'
import { openApiRoutes } from './openapi/build.ts'
import { addPage } from './pages.ts'
import { createClientReader } from './request/client-address.ts'
import { statusOfMalformed } from './request/malformed.ts'
import { createOpenings } from './request/openings.ts'
import { createChunkStreams } from './response/chunk-streams.ts'
import { createCommonHeaders } from './response/headers.ts'
import { createRequestLog } from './response/request-log.ts'
import { leaveUnawaited } from './response/send.ts'
import { createStallWatch } from './response/stalls.ts'
import type { WebPage } from './web-page.ts'

/** The part of an h3 app that a host needs. It can be mounted under a base path of another one. */
export interface ChatApp {
  fetch(request: Request): Response | Promise<Response>
}

/** The options of a host. */
export interface ChatAppOptions {
  /**
   * Returns the address of a request if the runtime does not know it. Default: `request.ip`. An invalid address counts
   * as missing.
   */
  addressOf?: (request: Request) => string | undefined
  /** The web chat, of `createWebChat`: it is served at the root of the service. */
  web?: WebPage | undefined
}

const CHAT_APP_OPTIONS: NamesOf<ChatAppOptions> = { addressOf: 0, web: 0 }

/**
 * The service over HTTP: `.fetch(Request)` for any web runtime, `createNodeHandler` for Node.
 *
 * @throws ChatError `unavailable` for a closed service
 */
export function createChatApp(chat: Chat, options: ChatAppOptions = {}): ChatApp {
  refuseUnknown('createChatApp', options, CHAT_APP_OPTIONS)
  // The URL of a malformed path is an unknown one; the service handles all other errors itself.
  const app = new H3({ allowMalformedURL: true, silent: true })
  const ctx = contextOf(chat)
  if (ctx.lifecycle.state === 'closed') assertStarted(ctx)
  const { load, config, log, metrics } = ctx
  const clientOf = createClientReader(config, log, options.addressOf)
  const requestLog = createRequestLog(config, log)
  const service = {
    chat,
    headers: createCommonHeaders(config),
    clientOf,
    requestLog,
    chunk_streams: createChunkStreams(),
    stream_writes: createStreamWrites(load.arrivals),
    openings: createOpenings(createRequestPriority(load.arrivals)),
    stalls: createStallWatch(config.server.stalled_seconds),
  }
  const table = resources(metrics)
  // A host may have cut the base path off, or not: no path below it is one without it.
  for (const base of new Set(['', basePathOf(config)])) {
    const at = (path: string, respond: (event: H3Event) => unknown) =>
      app.all(base + path, (event) => (base && isCut(event) ? handle(service, '/**', {}, event) : respond(event)))
    for (const [path, resource] of table) {
      at(patternOf(path, resource), (event) => handle(service, path, resource, event))
    }
    addForms(at, service, config)
    if (config.features.mcp) {
      addMcp(at, service)
      addOauth(at, service)
    }
    if (config.mcp.oauth.enabled) addConsent(at, service)
    if (options.web) addPage(at, service, options.web)
    for (const { prefix } of API_GROUPS) at(`${prefix}/**`, (event) => handle(service, `${prefix}/**`, {}, event))
  }
  return app
}

/** The service as a listener of `node:http`. */
export function createNodeHandler(app: ChatApp): (request: IncomingMessage, response: ServerResponse) => void {
  if (typeof Object(app).fetch !== 'function')
    throw new TypeError('createNodeHandler: pass the app that createChatApp returned')
  const handle = toNodeHandler(app as H3)
  const currentTurn = createResponseBatches()
  return (request, response) => {
    const refusal = statusOfMalformed(request)
    if (refusal !== undefined) return void response.writeHead(refusal, { connection: 'close' }).end()
    leaveUnawaited(response, currentTurn())
    void handle(request, response)
  }
}

/** Whether the host has cut its path off, as Express and Connect do: the base path behind it would be a second spelling. */
function isCut({ runtime }: H3Event): boolean {
  const request = runtime?.node?.req as (IncomingMessage & { originalUrl?: string }) | undefined
  return request?.originalUrl !== undefined && request.originalUrl !== request.url
}

function resources(metrics: Metrics): Map<string, Resource> {
  const byPath = new Map<string, Resource>()
  for (const route of Object.values<AnyRoute>({ ...routes, ...openApiRoutes })) {
    const endpoint: CountedRoute = {
      route,
      ...(route.metrics !== false && { count: metrics.route(route.method, route.path) }),
    }
    byPath.set(route.path, { ...byPath.get(route.path), [route.method]: endpoint })
  }
  return byPath
}

/** A path in the router's notation. */
function patternOf(path: string, resource: Resource): string {
  const takesRest = Object.values(resource).some((endpoint) => endpoint?.route.takes_rest)
  return path.replaceAll(/\{(\w+)\}/g, takesRest ? '**:$1' : ':$1')
}
