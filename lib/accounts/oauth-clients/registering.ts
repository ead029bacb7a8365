import type { Context } from '../../context.ts'
import { SECOND } from '../../core/units.ts'
import { spendRegistration } from '../../limits/spending.ts'
import { OAuthError } from './failures.ts'
import { cleanName, isRedirectUri } from './rules.ts'
import { toClientMetadata } from './schema.ts'
import { insertClient, lockAndCountClients } from './store.ts'

/** The maximum number of clients that have registered themselves: anyone can. */
export const MAX_REGISTRATIONS = 1000

/** What people see of one that has no name. */
const UNNAMED = 'An application'

/** A registered client, as it reads it (RFC 7591, section 3.2.1). */
export interface Registration {
  client_id: string
  /** In seconds since 1970. */
  client_id_issued_at: number
  client_name: string
  redirect_uris: readonly string[]
  token_endpoint_auth_method: 'none'
  grant_types: readonly string[]
  response_types: readonly string[]
}

/**
 * Registers a client that has no metadata document (RFC 7591). It proves itself by its id alone, whatever method it asks for; of its
 * redirects it gets those that are allowed.
 *
 * @throws OAuthError `invalid_redirect_uri`, `invalid_client_metadata`; `temporarily_unavailable` with too many clients; ChatError
 *   `rate_limited`
 */
export async function registerClient(ctx: Context, content: unknown, ip: string | undefined): Promise<Registration> {
  await spendRegistration(ctx, ip)
  const metadata = toClientMetadata(content)
  if (!metadata) throw new OAuthError('invalid_client_metadata', 'A field is missing, has another type, or is too long')
  const redirect_uris = metadata.redirect_uris.filter(isRedirectUri)
  if (redirect_uris.length === 0)
    throw new OAuthError('invalid_redirect_uri', 'A redirect must be https, or http on 127.0.0.1, [::1] or localhost')
  const name = cleanName(metadata.client_name) || UNNAMED
  const client = { client_id: ctx.id(), name, redirect_uris, created_at: ctx.now() }
  await ctx.write(async (tx) => {
    if ((await lockAndCountClients(tx, 'registered')) >= MAX_REGISTRATIONS)
      throw new OAuthError('temporarily_unavailable', 'Too many clients have registered themselves')
    await insertClient(tx, { ...client, kind: 'registered' })
  })
  return {
    client_id: client.client_id,
    client_id_issued_at: Math.floor(client.created_at / SECOND),
    client_name: name,
    redirect_uris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}
