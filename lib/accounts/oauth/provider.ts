import { derived } from '../../config/live.ts'
import { oauthProviders, type ProviderSettings } from '../../config/oauth.ts'
import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ProviderUser } from './person.ts'

/** The secrets of one attempt, which only the service and the browser know until it is completed. */
export interface AuthorizationAttempt {
  state: string
  verifier: string
  nonce: string
}

/** The parameters of the callback. */
export interface Returned {
  code: string
  iss?: string | undefined
  /** Only the code was entered: a missing issuer proves nothing. */
  by_hand?: boolean
}

/** A sign-in provider. Every failure there is `oauth_provider_error`, with the reason in the log. */
export interface Provider {
  /** The URL to redirect the browser to. @throws ChatError `oauth_provider_error` */
  authorizationUrl(attempt: AuthorizationAttempt): Promise<string>
  /**
   * The person for a code.
   *
   * @param attempt `undefined` for a code without a proof of which browser requested it
   * @throws ChatError `oauth_provider_error`; `oauth_state_invalid` when another provider redirected the browser
   */
  identify(returned: Returned, attempt?: Pick<AuthorizationAttempt, 'verifier' | 'nonce'>): Promise<ProviderUser>
}

/** The dependencies of a provider besides its settings. */
export interface ProviderTools {
  log: Log
  now: () => Micros
  /** Calls what discovery documents name. */
  outgoing: Outgoing
}

/** A configured provider. The OAuth client and its package are loaded when the provider is first used. */
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

/** The providers by name, as configured now. One whose settings are the same stays, with what it knows of its issuer. */
export function createProviders(config: Config, tools: ProviderTools): () => ReadonlyMap<string, Provider> {
  let providers = new Map<string, Provider>()
  return derived(
    () => config.oauth,
    () => {
      const settingsList = oauthProviders(config).map((settings) => [settings, JSON.stringify(settings)] as const)
      providers = new Map(
        settingsList.map(([settings, text]) => [text, providers.get(text) ?? createProvider(settings, tools)]),
      )
      return new Map(settingsList.map(([{ name }, text]) => [name, providers.get(text)!]))
    },
  )
}
