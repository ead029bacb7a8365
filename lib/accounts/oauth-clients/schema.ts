import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Instant, text } from '../../core/schema.ts'
import { KeyName } from '../api-keys/schema.ts'

/** How a client proves at the token endpoint who it is: not at all, or by a signed assertion (RFC 7523). */
export const CLIENT_AUTH_METHODS = ['none', 'private_key_jwt'] as const
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number]

/** Where a client comes from: its own document, the operator, or its registration. */
export const CLIENT_KINDS = ['operator', 'document', 'registered'] as const
export type ClientKind = (typeof CLIENT_KINDS)[number]

/** The longest URL of a metadata document, and so the longest `client_id`. */
export const MAX_CLIENT_ID_LENGTH = 512

/** More redirect addresses than any client has. */
const MAX_REDIRECTS = 50

/** More methods than exist. */
const MAX_METHODS = 20

/** The names of methods that a document may have, those of others among them. */
const Method = text(MAX_LENGTH.name)

/** What is read of a metadata document of a client, and of a registration (RFC 7591, section 2). */
export const ClientMetadata = v.object({
  client_name: v.optional(text(MAX_LENGTH.url)),
  redirect_uris: v.pipe(v.array(text(MAX_LENGTH.url)), v.minLength(1), v.maxLength(MAX_REDIRECTS)),
  token_endpoint_auth_method: v.optional(Method),
  token_endpoint_auth_methods_supported: v.optional(v.pipe(v.array(Method), v.maxLength(MAX_METHODS))),
  jwks_uri: v.optional(text(MAX_LENGTH.url)),
})
export type ClientMetadata = v.InferOutput<typeof ClientMetadata>

/** A metadata document: metadata with the URL at which it is. */
export const ClientDocument = v.object({ client_id: text(MAX_CLIENT_ID_LENGTH), ...ClientMetadata.entries })
export type ClientDocument = v.InferOutput<typeof ClientDocument>

/** @returns `undefined` for what is no metadata of a client */
export function toClientMetadata(content: unknown): ClientMetadata | undefined {
  const { success, output } = v.safeParse(ClientMetadata, content, { abortPipeEarly: true })
  return success ? output : undefined
}

/** @returns `undefined` for what is no metadata document */
export function toClientDocument(content: unknown): ClientDocument | undefined {
  const { success, output } = v.safeParse(ClientDocument, content, { abortPipeEarly: true })
  return success ? output : undefined
}

export const OperatorClientInput = v.object({
  name: v.pipe(KeyName, v.description('Shown to users when the client asks them')),
  redirect_uris: v.pipe(
    v.array(text(MAX_LENGTH.url)),
    v.minLength(1),
    v.maxLength(MAX_REDIRECTS),
    v.description(
      'Where it may send users back to: `https://`, or `http://` on 127.0.0.1, [::1] or localhost at any port',
    ),
  ),
})
export type OperatorClientInput = v.InferOutput<typeof OperatorClientInput>

/** A client of the operator. `last_used_at` is missing until a user has allowed it something. */
export const OperatorClient = v.object({
  client_id: v.string(),
  name: v.string(),
  redirect_uris: v.array(v.string()),
  created_at: Instant,
  last_used_at: v.optional(Instant),
})
export type OperatorClient = v.InferOutput<typeof OperatorClient>

/** Any client, with the number of its grants. */
export const ListedClient = v.object({
  ...OperatorClient.entries,
  kind: v.pipe(
    v.picklist(CLIENT_KINDS),
    v.description('Whether the operator, its own document or it itself has added it'),
  ),
  grants: v.pipe(v.number(), v.description('How many grants of users it has')),
})
export type ListedClient = v.InferOutput<typeof ListedClient>

export const OperatorClients = v.object({ clients: v.array(ListedClient) })
export type OperatorClients = v.InferOutput<typeof OperatorClients>
