import type { Config } from '../../api/config.ts'
import { mcpUrlOf, publicUrlOf } from '../../config/base-path.ts'
import { MCP_SCOPES } from '../../core/actor.ts'
import { CLIENT_AUTH_METHODS } from '../oauth-clients/schema.ts'

/** A document that clients find by its address. */
type Metadata = Record<string, unknown>

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'

/**
 * The documents by which a client of MCP finds out how to get a token, by their paths: RFC 9728 and, while the service is the
 * authorization server, RFC 8414.
 *
 * @param base the path of the service behind those paths: clients look for both there, at the root of the host
 */
export function metadataPaths(config: Config, base: string): Map<string, Metadata> {
  const address = publicUrlOf(config)
  const own = config.mcp.oauth.enabled
  const issuers = own ? [address] : config.mcp.authorization_servers
  if (!config.features.mcp || address === undefined || issuers.length === 0) return new Map()
  const resource = resourceMetadata(mcpUrlOf(config), issuers as string[])
  return new Map([
    [RESOURCE + base, resource],
    [`${RESOURCE}${base}/mcp`, resource],
    ...(own ? [[SERVER + base, authorizationMetadata(address, config.mcp.oauth)] as const] : []),
  ])
}

/** The address of the document of `/mcp`, for a challenge; `undefined` while clients get no token by it. */
export function resourceMetadataUrl(config: Config): string | undefined {
  const isFound = config.mcp.oauth.enabled || config.mcp.authorization_servers.length > 0
  return isFound ? `${publicUrlOf(config)}${RESOURCE}/mcp` : undefined
}

function resourceMetadata(resource: string, authorization_servers: readonly string[]): Metadata {
  return {
    resource,
    authorization_servers,
    // What a client asks for at first; it asks for more when a tool needs it.
    scopes_supported: ['chat:read'],
    bearer_methods_supported: ['header'],
  }
}

function authorizationMetadata(issuer: string, { registration }: Config['mcp']['oauth']): Metadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    ...(registration && { registration_endpoint: `${issuer}/oauth/register` }),
    scopes_supported: MCP_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ['RS256', 'ES256'],
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ['RS256', 'ES256'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  }
}
