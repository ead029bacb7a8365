import * as v from 'valibot'
import { LoginAnswer } from '../accounts/sessions/schema.ts'
import { DisplayName, User } from '../accounts/users/schema.ts'
import { Id, Instant, text } from '../core/schema.ts'

/** A visitor who becomes a guest. */
export const GuestInput = v.object({
  display_name: v.optional(DisplayName),
  token: v.optional(
    v.pipe(v.boolean(), v.description('The token is returned, for `Authorization: Bearer`, and no cookie is set')),
  ),
})
export type GuestInput = v.InferOutput<typeof GuestInput>

const Contacted = v.optional(
  v.pipe(Id, v.description('The conversation with the contacts of guests, if there are any (`guests.contacts`)')),
)

/** A new guest with a session in cookies. */
export const GuestSession = v.object({ ...LoginAnswer.entries, conversation_id: Contacted })
export type GuestSession = v.InferOutput<typeof GuestSession>

/** A new guest with a token. */
export const GuestToken = v.object({
  user: User,
  token: v.pipe(v.string(), v.description('For `Authorization: Bearer`; the service has only a digest of it')),
  expires_at: v.pipe(Instant, v.description('Without use. Each use moves it')),
  conversation_id: Contacted,
})
export type GuestToken = v.InferOutput<typeof GuestToken>

export const AdmittedGuest = v.union([GuestSession, GuestToken])
export type AdmittedGuest = v.InferOutput<typeof AdmittedGuest>

/** The longest token that claims a guest: signed tokens of a host may be that long. */
const MAX_TOKEN_LENGTH = 8192

/** The token of a guest: one of the service, or of the host's. */
export const GuestClaim = v.object({
  token: v.pipe(
    text(MAX_TOKEN_LENGTH),
    v.regex(/^[!-~]+$/, 'must be a token'),
    v.metadata({ pattern: '^[!-~]+$' }),
    v.description('Of the guest: what `POST /api/guests` has returned, or one that your application has signed for it'),
  ),
})
export type GuestClaim = v.InferOutput<typeof GuestClaim>
