// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.capabilities`. */
export interface CapabilitiesClient {
  /**
   * Get what the service offers.
   *
   * What a page has to know before a sign-in: the ways to sign in, what is configured, and the maximum sizes of
   * messages; `csrf` is missing if no CSRF token is checked. It is the same for every caller.
   */
  get(options?: CallOptions): Promise<Capabilities>
}

/** What a page shows before a sign-in depends on. */
export interface Capabilities {
  /** `false`: the application around the service identifies its callers */
  sign_in: boolean
  /** The providers that can sign users in */
  providers: OfferedProvider[]
  /** Whether the service sends mail, such as links to reset a password */
  mail: boolean
  /** Whether an invite can create an account */
  sign_up: boolean
  /** Whether the service has the web chat at its root */
  web: boolean
  /** Whether messages can be searched */
  search: boolean
  attachments?: OfferedFiles
  /** Whether direct conversations can be opened */
  direct: boolean
  csrf?: CsrfNames
  limits: OfferedLimits
}

/** A provider that can sign users in. */
export interface OfferedProvider {
  /** As in `POST /api/oauth/{provider}` */
  name: string
  /** For a button */
  title: string
}

/** The files that messages can have. */
export interface OfferedFiles {
  /** Size of a file */
  max_bytes: number
  /** The media types that are allowed; empty: all */
  types: string[]
}

/** The cookie and the header of the CSRF token. */
export interface CsrfNames {
  cookie_name: string
  header_name: string
}

/** The maximum sizes of what users write. */
export interface OfferedLimits {
  /** Length of a message, in UTF-8 */
  message_bytes: number
  /** Depth of replies; the root of a thread has depth 0 */
  max_depth: number
  /** Number of different emoji on a message */
  reactions_per_message: number
  /** Number of pinned messages of a conversation */
  pins: number
}
