import type { SignedIn } from '../../accounts/sessions/service.ts'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import type { AnyRoute } from '../../endpoint.ts'
import type { Chat } from '../../service.ts'
import { sessionCookies } from '../request/cookies.ts'
import type { HeaderPair } from './headers.ts'
import { type Reply, serialize } from './serialize.ts'

/** A session, and the next page of its browser. */
export interface Redirect {
  signed_in: SignedIn
  redirect_to: string
}

/**
 * Keeps a prefetch from using up a one-time token: the browser sends the request again when its user follows the link.
 *
 * @throws ChatError `unavailable`, so that a browser does not show the prefetched response
 */
export function refusePrefetch(request: Headers): void {
  const purpose = request.get('sec-purpose') ?? request.get('purpose') ?? ''
  if (/^prefetch\b/i.test(purpose)) throw new ChatError('unavailable')
}

/** The redirect of a signed-in browser; a client that asks for JSON gets the response of a sign-in. */
export function toRedirect(chat: Chat, route: AnyRoute, { signed_in, redirect_to }: Redirect, request: Headers): Reply {
  if (asksForJson(request)) return serialize(chat, { ...route, answer: 'session' }, signed_in)
  const { config, sessionNow } = contextOf(chat)
  // Encoded only where necessary: a URL parser would also resolve the dots.
  const location = redirect_to.replace(/[^!-~]+/gu, encodeURIComponent)
  const headers: HeaderPair[] = [
    ['x-session-rotated', '1'],
    ['location', location],
  ]
  return { status: 303, headers, cookies: sessionCookies(config, signed_in, sessionNow()), body: null }
}

/** Browsers that navigate accept HTML. */
function asksForJson(request: Headers): boolean {
  const accept = request.get('accept') ?? ''
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
}
