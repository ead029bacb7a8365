import type { ProviderSettings } from '../../config/oauth.ts'
import type { Log } from '../../context.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Person } from './person.ts'

/** What one sign-in is made with; none of it is known to anybody before its time. */
export interface Attempt {
  state: string
  verifier: string
  nonce: string
}

/** What came back with the browser. */
export interface Returned {
  code: string
  iss?: string | undefined
  /** Only the code was brought: that there is no issuer with it says nothing. */
  by_hand?: boolean
}

/** Somewhere else to sign in. All that goes wrong there is `oauth_provider_error`, and its reason a line of the log. */
export interface Provider {
  /** Where to send the browser. @throws ChatError `oauth_provider_error` */
  authorizationUrl(attempt: Attempt): Promise<string>
  /**
   * Who somebody is, for the code they came back with.
   *
   * @param attempt without, a code that was asked for with no proof of who asked
   * @throws ChatError `oauth_provider_error`; `oauth_state_invalid` when another provider sent the browser back
   */
  identify(returned: Returned, attempt?: Pick<Attempt, 'verifier' | 'nonce'>): Promise<Person>
}

/** What a provider is made with beside its settings. */
export interface ProviderTools {
  log: Log
  now: () => Micros
}

/** A provider as it is configured. The OAuth client and its package are loaded when the provider is first used. */
export function createProvider(settings: ProviderSettings, tools: ProviderTools): Provider {
  let client: Promise<Provider> | undefined
  const load = () => {
    client ??= import('./client.ts').then(({ createClient }) => createClient(settings, tools))
    return client
  }
  return {
    authorizationUrl: async (attempt) => (await load()).authorizationUrl(attempt),
    identify: async (...returned) => (await load()).identify(...returned),
  }
}
