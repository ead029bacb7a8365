import { createHash, randomBytes } from 'node:crypto'
import { grantCode } from '../../lib/accounts/grants/codes.ts'
import type { IssuedTokens } from '../../lib/accounts/grants/tokens.ts'
import { saveDocument } from '../../lib/accounts/oauth-clients/store.ts'
import type { McpScope } from '../../lib/core/actor.ts'
import { innerState, type TestService } from './service.ts'

/** The address of services with an authorization server. */
export const ISSUER = 'https://chat.example.org'

/** The configuration of such a service. */
export const OAUTH = {
  features: { mcp: true },
  server: { public_url: ISSUER },
  mcp: { oauth: { enabled: true } },
}

/** An application whose document was read. */
export const AGENT = {
  client_id: 'https://agent.example/client.json',
  name: 'Agent',
  host: 'agent.example',
  redirect_uris: ['https://agent.example/back'],
  auth_methods: ['none' as const],
}

/** Stores an application. */
export async function addClient(
  service: TestService,
  client: Parameters<typeof saveDocument>[1] = AGENT,
): Promise<void> {
  const { write, now } = innerState(service)
  await write((tx) => saveDocument(tx, client, { at: now(), fresh_until: now() }))
}

/** What the page of the user does when the user allows an application. */
export async function allow(
  service: TestService,
  user: { id: string },
  { scopes = ['chat:read'], client = AGENT }: { scopes?: readonly McpScope[]; client?: typeof AGENT } = {},
): Promise<{ code: string; code_verifier: string }> {
  const context = innerState(service)
  const code_verifier = randomBytes(32).toString('base64url')
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
  const [redirect_uri] = client.redirect_uris
  const allowed = {
    client_id: client.client_id,
    client_name: client.name,
    client_host: client.host,
    redirect_uri: redirect_uri!,
    scopes,
    code_challenge,
  }
  const code = await context.write((tx) => grantCode(context, tx, { user_id: user.id, roles: ['member'] }, allowed))
  return { code, code_verifier }
}

/** A call of a client of the authorization server. */
export function postForm(
  service: TestService,
  path: string,
  fields: Record<string, string> | string,
): Promise<Response> {
  return fetch(`${service.base_url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
}

/** The status and the body of a call at the token endpoint: tokens, or an error. */
export interface Answered extends IssuedTokens {
  status: number
  error?: string
}

/** A call at the token endpoint. */
export async function askTokens(service: TestService, fields: Record<string, string>): Promise<Answered> {
  const response = await postForm(service, '/oauth/token', fields)
  return { status: response.status, ...(await response.json()) }
}

/** Gives an application tokens, as a user who allows it does. */
export async function connect(
  service: TestService,
  user: { id: string },
  scopes: readonly McpScope[] = ['chat:read'],
): Promise<Answered> {
  const { code, code_verifier } = await allow(service, user, { scopes })
  return askTokens(service, { ...EXCHANGE, code, code_verifier })
}

/** The fields of a request with a code, besides the code itself. */
export const EXCHANGE = {
  grant_type: 'authorization_code',
  client_id: AGENT.client_id,
  redirect_uri: AGENT.redirect_uris[0]!,
}
