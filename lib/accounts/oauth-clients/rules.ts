import { withoutUnseen } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../core/units.ts'
import { parseUrl } from '../../core/url.ts'
import {
  CLIENT_AUTH_METHODS,
  type ClientAuthMethod,
  type ClientMetadata,
  MAX_CLIENT_ID_LENGTH,
  toClientDocument,
} from './schema.ts'

/** A client of the authorization server. */
export interface OAuthClient {
  client_id: string
  name: string
  /** The host of its document, if it has one: it is known to be its own. */
  host?: string
  redirect_uris: readonly string[]
  auth_methods: readonly ClientAuthMethod[]
  /** Where its public keys are, with `private_key_jwt`. */
  jwks_uri?: string
}

/** What a document says of its client, or why it is refused: a sentence without anything of the document. */
export type ReadDocument = { client: OAuthClient } | { problem: string }

/** How long a document is used before it is read again, whatever its host asks for. */
const MIN_AGE = 5 * MINUTE
const MAX_AGE = DAY

/** How long a document is used while its host fails. */
export const MAX_STALE_AGE = 7 * DAY

/** After a failed read, the stored document is used for so long before the next. */
export const RETRY_AGE = MIN_AGE

/** A registered client that no user has allowed anything is deleted after so long. */
export const UNUSED_AGE = 24 * HOUR

/**
 * Whether a `client_id` is the URL of a metadata document (OAuth Client ID Metadata Document, section 3): `https`, a path, and no
 * query, fragment, user or dot segments. Only the one spelling that `URL` itself writes is one, so that no two texts are one host.
 */
export function isDocumentUrl(clientId: string): boolean {
  if (clientId.length > MAX_CLIENT_ID_LENGTH) return false
  return /^https:\/\/[^/?#@\\\s]+\/[^?#\\\s]+$/.test(clientId) && parseUrl(clientId)?.href === clientId
}

/** A redirect to this machine (RFC 8252, section 7.3), without its port, and the rest of it. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/

/** A redirect elsewhere: its host is a part of a header. */
const HTTPS = /^https:\/\/(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:[/?].*)?$/

/** Whether a redirect leads to a program on the computer of the user. */
export function isLoopbackRedirect(uri: string): boolean {
  return LOOPBACK.test(uri)
}

/** Whether a client may name such a redirect: `https`, or `http` to this machine; without fragment and user. */
export function isRedirectUri(uri: string): boolean {
  if (uri.length > MAX_LENGTH.url || !/^[\x21-\x7E]+$/.test(uri) || /[#\\<>"]/.test(uri)) return false
  const isShaped = LOOPBACK.test(uri) || HTTPS.test(uri)
  return isShaped && parseUrl(uri) !== undefined
}

/** Whether a client has this redirect: byte for byte, but for the port of one to this machine. */
export function isRedirectOf({ redirect_uris }: Pick<OAuthClient, 'redirect_uris'>, uri: string): boolean {
  if (!isRedirectUri(uri)) return false
  return redirect_uris.some((known) => withoutPort(known) === withoutPort(uri))
}

function withoutPort(uri: string): string {
  const [, host, , rest = ''] = LOOPBACK.exec(uri) ?? []
  return host === undefined ? uri : host + rest
}

/** What a metadata document at a URL says of its client. */
export function readDocument(url: string, content: unknown): ReadDocument {
  const output = toClientDocument(content)
  if (!output) return { problem: 'it lacks a field, or a field has another type or is too long' }
  if (output.client_id !== url) return { problem: 'its client_id is not its own address' }
  const host = new URL(url).host
  const redirect_uris = output.redirect_uris.filter(isRedirectUri)
  if (redirect_uris.length === 0) return { problem: 'none of its redirect_uris is https or of this machine' }
  const auth_methods = methodsOf(output)
  if (auth_methods.length === 0)
    return { problem: 'it allows neither the method none nor private_key_jwt with a jwks_uri' }
  const { jwks_uri } = auth_methods.includes('private_key_jwt') ? output : {}
  const name = cleanName(output.client_name) || host
  return {
    client: {
      ...{ client_id: url, name, host, redirect_uris, auth_methods },
      ...(jwks_uri !== undefined && { jwks_uri }),
    },
  }
}

/** The methods that the metadata allow and the service takes. Without keys, no assertion can be verified. */
function methodsOf(metadata: ClientMetadata): ClientAuthMethod[] {
  const { token_endpoint_auth_method: one, token_endpoint_auth_methods_supported: several = [] } = metadata
  const hasKeys = metadata.jwks_uri !== undefined && isKeysUrl(metadata.jwks_uri)
  return CLIENT_AUTH_METHODS.filter(
    (method) => (one === method || several.includes(method)) && (method === 'none' || hasKeys),
  )
}

function isKeysUrl(uri: string): boolean {
  return uri.startsWith('https://') && parseUrl(uri) !== undefined
}

/** The name of a client as people see it: one line without characters that hide or turn what stands beside it. */
export function cleanName(name: string | undefined): string {
  return withoutUnseen((name ?? '').slice(0, MAX_LENGTH.name))
    .slice(0, MAX_LENGTH.label)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim()
}

/**
 * The host that people see beside the name of a client: that of its document, or else of where it goes back to this time, whatever
 * other hosts it names.
 */
export function hostOf({ host }: Pick<OAuthClient, 'host'>, redirectUri: string): string {
  const { host: place, hostname } = new URL(redirectUri)
  return host ?? (isLoopbackRedirect(redirectUri) ? hostname : place)
}

/** How long a document is used, in microseconds (RFC 9111, section 5.2). A host that does not say is asked again soon. */
export function ageOf(cacheControl: string | undefined): number {
  const directives = (cacheControl ?? '')
    .slice(0, MAX_LENGTH.header)
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
  if (directives.some((each) => each === 'no-store' || each === 'no-cache')) return MIN_AGE
  const seconds = directives.flatMap((each) => /^max-age="?(\d{1,10})"?$/.exec(each)?.[1] ?? []).map(Number)
  return Math.min(Math.max((seconds[0] ?? 0) * SECOND, MIN_AGE), MAX_AGE)
}
