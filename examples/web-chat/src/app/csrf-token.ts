import { attempt } from './attempt.ts'

const KEY = 'chat:csrf'

/** Where the browser keeps nothing, as in some frames, the token is known for the visit. */
let visiting: string | null = null

/** The CSRF token of the session, which the browser keeps for the tab. */
export function csrfToken(): string | null {
  return attempt(() => sessionStorage.getItem(KEY)) ?? visiting
}

/** @param token `null` at a sign-out; `undefined` leaves what is kept */
export function keepCsrfToken(token: string | null | undefined): void {
  if (token === undefined) return
  visiting = token
  attempt(() => (token === null ? sessionStorage.removeItem(KEY) : sessionStorage.setItem(KEY, token)))
}
