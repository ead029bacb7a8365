import type { ClientOptions } from './types.ts'

/** How long before it expires a token is replaced, and for how long at least each one is used: clocks differ. */
const MARGIN_MS = 10_000

/** The token of a client: asked for once, however many calls wait for it. */
export interface Tokens {
  get(): Promise<string>
  /** The service has refused this one, by default the current one: the next call asks for another, unless one has already. */
  refuse(token?: string): Promise<void>
}

export function createTokens(ask: NonNullable<ClientOptions['token']>): Tokens {
  let current: { token: Promise<string>; asked: number } | undefined
  let refused: string | undefined

  function renew(expired: boolean): Promise<string> {
    const asked = { token: (async () => ask({ expired }))(), asked: Date.now() }
    current = asked
    // What fails is asked for again.
    asked.token.catch(() => {
      if (current === asked) current = undefined
    })
    return asked.token
  }

  return {
    async get() {
      if (!current) return renew(refused !== undefined)
      const known = current
      const token = await known.token
      if (token !== refused && !(known.asked + MARGIN_MS < Date.now() && expiryOf(token) < Date.now() + MARGIN_MS))
        return token
      // Another call may have asked meanwhile.
      return current && current !== known ? current.token : renew(true)
    },
    async refuse(token) {
      refused = token ?? (await current?.token)
    },
  }
}

/** When a JWT expires, in milliseconds since 1970; infinite for a token that does not show it. */
function expiryOf(token: string): number {
  try {
    const { exp } = JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')))
    return typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
