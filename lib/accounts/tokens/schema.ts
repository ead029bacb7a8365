import * as v from 'valibot'
import { SCOPES } from '../../core/actor.ts'
import { Id, Instant } from '../../core/schema.ts'
import { Subject } from '../users/schema.ts'

/** How long a token lives, unless its maker says otherwise. */
export const DEFAULT_SECONDS = 3600

/** The longest life of a ticket: it is in a URL, which others may log. */
export const MAX_TICKET_SECONDS = 300

export const TokenScope = v.pipe(
  v.picklist(SCOPES),
  v.description(
    '`write`: what an API key may; `read`: GET and streams; `stream`: streams. Each contains what follows it',
  ),
)

export const TokenInput = v.object({
  ttl_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(60),
      v.maxValue(86_400),
      v.description(
        `How long the token lives. Default: ${DEFAULT_SECONDS}; a token with \`stream\` alone, which is a ticket: ${MAX_TICKET_SECONDS}, its maximum`,
      ),
    ),
  ),
  scopes: v.optional(
    v.pipe(
      v.array(TokenScope),
      v.minLength(1),
      v.maxLength(SCOPES.length),
      v.description('What the token allows. Default: `read` and `write`'),
    ),
  ),
})
export type TokenInput = v.InferOutput<typeof TokenInput>

/** A token as the operator issues it: for a user, or for a person of the host's. */
export const TokenOfUser = v.object({
  ...TokenInput.entries,
  user_id: v.optional(Id),
  subject: v.optional(v.pipe(Subject, v.description("The host's own id of a person"))),
})
export type TokenOfUser = v.InferOutput<typeof TokenOfUser>

/** An issued token; it is stored nowhere. */
export const IssuedToken = v.object({
  token: v.pipe(
    v.string(),
    v.description('For `Authorization: Bearer`; a ticket also for `?ticket=` of a stream. Stored nowhere'),
  ),
  expires_at: Instant,
})
export type IssuedToken = v.InferOutput<typeof IssuedToken>
