import { keepCsrfToken } from '../csrf-token.ts'

/** A sign-in, for the other tabs. */
interface SignIn {
  user_id: string
  csrf_token: string | undefined
}

/**
 * Has all tabs of the browser take part in a sign-in: their cookies are the same.
 *
 * @param userId who is signed in here
 * @returns a function that reports a sign-in of this tab
 */
export function shareSignIns(api: string, userId: () => string): (signIn: SignIn) => void {
  if (typeof BroadcastChannel === 'undefined') return () => {}
  const channel = new BroadcastChannel(`chat:sign-in:${api}`)
  channel.onmessage = ({ data }) => {
    const { user_id, csrf_token } = data as SignIn
    if (user_id === userId()) return
    keepCsrfToken(csrf_token)
    location.reload()
  }
  return (signIn) => channel.postMessage(signIn)
}
