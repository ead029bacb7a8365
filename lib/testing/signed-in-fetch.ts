import { openSession } from '../accounts/sessions/service.ts'
import { findUser } from '../accounts/users/store.ts'
import type { Actor } from '../core/actor.ts'
import { contextOf } from '../core/context-of.ts'
import type { Chat } from '../service.ts'

/**
 * A `fetch` with a session of its own, which begins with the first request: users of tests have no passwords to sign in
 * with. As soon as a response sets a cookie, the client has it, and sends its own.
 */
export function signedInFetch(chat: Chat, { user_id }: Actor, send: typeof fetch): typeof fetch {
  const ctx = contextOf(chat)
  const { session, security } = ctx.config
  let isOwn = true
  const open = () => ctx.write(async (tx) => openSession(ctx, tx, (await findUser(tx, user_id))!, { ip: '127.0.0.1' }))
  let signedIn: ReturnType<typeof open> | undefined
  return async (input, init) => {
    if (!isOwn) return send(input, init)
    signedIn ??= open()
    const { token, csrf_token } = await signedIn
    const headers = new Headers(init?.headers)
    const known = headers.get('cookie')
    const own = `${session.session_cookie_name}=${token}; ${security.csrf.cookie_name}=${csrf_token}`
    headers.set('cookie', known ? `${known}; ${own}` : own)
    headers.set(security.csrf.header_name, csrf_token)
    const response = await send(input, { ...init, headers })
    isOwn &&= !response.headers.getSetCookie().some((cookie) => cookie.startsWith(`${session.session_cookie_name}=`))
    return response
  }
}
