import type { H3Event } from 'h3'
import { readCookies } from '../../core/headers.ts'
import type { AnyRoute } from '../../endpoint.ts'
import { perform } from '../call.ts'
import type { Service } from '../handle.ts'

/** What of a request the route that does the work must know: which client it is, and which page sends it. */
const PASSED_ON = ['host', 'origin', 'sec-fetch-site', 'user-agent']

/** What a page passes to a route. */
interface RouteCall {
  /** The body; without it, the call has none. */
  input?: object
  params?: Record<string, string>
  query?: Record<string, string>
  /** Whether the route sees the cookies of the browser. */
  with_cookies: boolean
}

/** Calls the route that a page without a script stands for, with all its checks, for the same client. @returns its result */
export async function callRoute(
  { chat, clientOf }: Service,
  route: AnyRoute,
  { req, url }: H3Event,
  { input, params = {}, query, with_cookies }: RouteCall,
): Promise<unknown> {
  const headers = new Headers(input && { 'content-type': 'application/json' })
  for (const name of PASSED_ON) {
    const value = req.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  const { outcome } = await perform(chat, route, {
    method: route.method,
    headers,
    cookies: with_cookies ? readCookies(req.headers.get('cookie')) : new Map<string, string>(),
    params,
    search: query ? `?${new URLSearchParams(query)}` : '',
    url,
    body: input ? new Blob([JSON.stringify(input)]).stream() : null,
    ip: clientOf(req),
    given: { request: req },
    gone: () => req.signal,
  })
  if ('error' in outcome) throw outcome.error
  return outcome.result
}
