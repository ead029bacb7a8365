import { publicUrlOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { SECOND } from '../../core/units.ts'
import { type ClaimsRules, TokenRefusal, verifyClaims } from '../jwt/claims.ts'
import { OAuthError } from './failures.ts'
import { findStoredClient } from './resolve.ts'
import type { OAuthClient } from './rules.ts'
import { insertAssertion } from './store.ts'

/** The kind of an assertion (RFC 7523, section 2.2). */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The path of the token endpoint. */
export const TOKEN_PATH = '/oauth/token'

/** How long an assertion may be valid. */
const MAX_SECONDS = 300

/** How far the clock of a client may differ. */
const LEEWAY_SECONDS = 30

/** What of a request to the token endpoint says which client sends it. */
export interface ClientProof {
  client_id?: string | undefined
  client_assertion?: string | undefined
  client_assertion_type?: string | undefined
}

/**
 * The client that sends a request to the token endpoint: by its id alone, or by an assertion that it has signed (RFC 7523), as its
 * document allows. An assertion counts once.
 *
 * @throws OAuthError `invalid_client`; `temporarily_unavailable` while the keys of the client cannot be read
 */
export async function authenticateClient(ctx: Context, proof: ClientProof): Promise<OAuthClient> {
  const { client_assertion, client_assertion_type } = proof
  const isSigned = client_assertion !== undefined || client_assertion_type !== undefined
  const clientId = proof.client_id ?? (client_assertion === undefined ? undefined : await subjectOf(client_assertion))
  const client = clientId === undefined ? undefined : await findStoredClient(ctx, clientId)
  if (!client) throw refusal('The client is not known.')
  const method = isSigned ? 'private_key_jwt' : 'none'
  if (!client.auth_methods.includes(method)) throw refusal(`The client does not allow the method ${method}.`)
  if (isSigned) await assertSigned(ctx, client, proof)
  return client
}

async function assertSigned(ctx: Context, client: OAuthClient, proof: ClientProof): Promise<void> {
  const { client_assertion = '', client_assertion_type } = proof
  if (client_assertion_type !== ASSERTION_TYPE) throw refusal(`client_assertion_type must be ${ASSERTION_TYPE}.`)
  const { client_id, jwks_uri } = client
  if (jwks_uri === undefined) throw refusal('The client has no keys.')
  const { sub, jti, exp } = await verify(ctx, client_assertion, rulesFor(ctx, client_id), jwks_uri)
  if (sub !== client_id) throw refusal('The assertion is of another client.')
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_LENGTH.subject)
    throw refusal(`jti must be a text of 1 to ${MAX_LENGTH.subject} characters.`)
  // Kept as long as the assertion would be taken.
  const used = { jti_hash: digest(`${client_id} ${jti}`), expires_at: Math.ceil((exp + LEEWAY_SECONDS) * SECOND) }
  if (!(await ctx.write((tx) => insertAssertion(tx, used)))) throw refusal('The assertion was used before.')
}

function rulesFor({ config }: Context, clientId: string): ClaimsRules {
  const issuer = publicUrlOf(config) ?? ''
  return {
    issuer: clientId,
    audience: [issuer, issuer + TOKEN_PATH],
    algorithms: ['RS256', 'ES256'],
    required: ['sub', 'jti'],
    max_seconds: MAX_SECONDS,
    leeway_seconds: LEEWAY_SECONDS,
  }
}

async function verify(ctx: Context, assertion: string, rules: ClaimsRules, jwksUri: string) {
  try {
    return await verifyClaims(assertion, ctx.accounts.clientDocuments.keysAt(jwksUri).find, rules, ctx.now())
  } catch (error) {
    if (error instanceof ChatError)
      throw new OAuthError('temporarily_unavailable', 'The keys of the client cannot be read.')
    if (!(error instanceof TokenRefusal)) throw error
    ctx.log.info('The assertion of a client was refused', { reason: error.message })
    throw refusal(error.is_expired ? 'The assertion has expired.' : 'The assertion is not valid.')
  }
}

/** The client that an assertion names, before anything of it is believed. */
async function subjectOf(assertion: string): Promise<string | undefined> {
  if (assertion.length > MAX_LENGTH.header) return undefined
  try {
    const { decodeJwt } = await import('jose')
    const { sub } = decodeJwt(assertion)
    return typeof sub === 'string' ? sub : undefined
  } catch {
    return undefined
  }
}

const refusal = (description: string) => new OAuthError('invalid_client', description)
