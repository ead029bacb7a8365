import type { SignedIn } from '../accounts/sessions/service.ts'
import { contextOf } from '../core/context-of.ts'
import { ChatError } from '../core/errors.ts'
import type { AnyRoute } from '../endpoint.ts'
import type { Chat } from '../service.ts'
import { sessionCookies } from './cookies.ts'
import { type Header, type Reply, toReply } from './reply.ts'

/** A session, and where its browser goes next. */
export interface Redirect {
  signed_in: SignedIn
  redirect_to: string
}

/**
 * Keeps what only looks ahead from using up what can be used once: the browser comes again when its user does.
 *
 * @throws ChatError `unavailable`, which keeps a browser from showing what it has prefetched
 */
export function refusePrefetch(request: Headers): void {
  const purpose = request.get('sec-purpose') ?? request.get('purpose') ?? ''
  if (/^prefetch\b/i.test(purpose)) throw new ChatError('unavailable')
}

/** The answer to a browser that comes back signed in; for who asks for JSON, that of a sign-in. */
export function toRedirect(chat: Chat, route: AnyRoute, { signed_in, redirect_to }: Redirect, request: Headers): Reply {
  if (asksForJson(request)) return toReply(chat, { ...route, answer: 'session' }, signed_in)
  const { config, now } = contextOf(chat)
  // Encoded where it must be and nowhere else: a URL parser would also take the dots out of it.
  const location = redirect_to.replace(/[^!-~]+/gu, encodeURIComponent)
  const headers: Header[] = [
    ['x-session-rotated', '1'],
    ['location', location],
  ]
  return { status: 303, headers, cookies: sessionCookies(config, signed_in, now()), body: null }
}

/** Browsers that navigate take HTML as well. */
function asksForJson(request: Headers): boolean {
  const accept = request.get('accept') ?? ''
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
}
