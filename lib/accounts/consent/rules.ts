import type { McpScope } from '../../core/actor.ts'

/** The use of the secret that signs the form of the page. */
export const CONSENTS = 'chat-server consents'

/** The parameters of an authorization that are read (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). Others are ignored. */
export const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const

type Parameter = (typeof PARAMETERS)[number]

/** What a client asks for, as its user brings it. */
export type AuthorizationRequest = Partial<Record<Parameter, string>> & { client_id: string; redirect_uri: string }

/** Why a request is refused on the page itself, without a redirect: it is not certain where its answer belongs. */
export interface Problem {
  problem: string
}

/** The longest value of a parameter. */
const MAX_VALUE_LENGTH = 4096

/** Visible characters and spaces, as the standard allows them (RFC 6749, appendix A): a form sends others changed. */
const PLAIN = /^[\x20-\x7E]*$/

/** Reads the parameters of a request, which are there once. An empty one is missing (RFC 6749, section 3.1). */
export function readAuthorization(params: ReadonlyMap<string, string>): AuthorizationRequest | Problem {
  const given = PARAMETERS.flatMap((name): [Parameter, string][] => {
    const value = params.get(name)
    return value ? [[name, value]] : []
  })
  if (given.some(([, value]) => value.length > MAX_VALUE_LENGTH || !PLAIN.test(value)))
    return { problem: 'A parameter of the application is too long, or has characters that it must not have.' }
  const { client_id, redirect_uri, ...others } = Object.fromEntries(given) as Partial<Record<Parameter, string>>
  if (client_id === undefined) return { problem: 'The application did not say which one it is: client_id is missing.' }
  if (redirect_uri === undefined)
    return { problem: 'The application did not say where to go back to: redirect_uri is missing.' }
  return { client_id, redirect_uri, ...others }
}

/** A failure that the client hears of by the redirect (RFC 6749, section 4.1.2.1). */
export interface Refusal {
  error: 'invalid_request' | 'unsupported_response_type' | 'invalid_target' | 'access_denied'
  error_description: string
}

/** A digest of SHA-256 in base64url, which is what S256 makes (RFC 7636, section 4.2). */
const CHALLENGE = /^[\w-]{43}$/

/** Why a request of a known client, with a redirect of it, is refused. */
export function refusalOf(request: AuthorizationRequest, { resource }: { resource: string }): Refusal | undefined {
  const { response_type, code_challenge, code_challenge_method } = request
  const refuse = (error: Refusal['error'], error_description: string) => ({ error, error_description })
  if (response_type === undefined) return refuse('invalid_request', 'response_type is missing')
  if (response_type !== 'code') return refuse('unsupported_response_type', 'response_type must be code')
  if (code_challenge === undefined) return refuse('invalid_request', 'code_challenge is missing')
  // Without the method, it would be `plain` (RFC 7636, section 4.3).
  if (code_challenge_method !== 'S256') return refuse('invalid_request', 'code_challenge_method must be S256')
  if (!CHALLENGE.test(code_challenge)) return refuse('invalid_request', 'code_challenge is no digest of SHA-256')
  if (request.resource !== undefined && request.resource !== resource)
    return refuse('invalid_target', 'resource is none of this server')
  return undefined
}

/** What a user allows by the boxes of the page. Each includes reading. */
export function allowedScopes(boxes: { write: boolean; ask: boolean }): McpScope[] {
  return ['chat:read', ...(boxes.write ? (['chat:write'] as const) : []), ...(boxes.ask ? (['chat:ask'] as const) : [])]
}

/** The redirect to a client with an answer (RFC 6749, section 4.1.2; `iss`: RFC 9207). What it had in its query stays as it is. */
export function redirectWith(
  { redirect_uri, state }: Pick<AuthorizationRequest, 'redirect_uri' | 'state'>,
  answer: { code: string } | Refusal,
  issuer: string,
): string {
  const params = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer })
  return `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${params}`
}
