import * as v from 'valibot'
import { LONGEST } from '../../core/lengths.ts'
import { Id, Instant, text } from '../../core/schema.ts'
import { DisplayName, Email, Roles, Username } from '../users/schema.ts'

/**
 * The provider's id of a user. It is compared unchanged: texts that both databases store, within OpenID's maximum
 * length.
 */
export const Subject = v.pipe(text(LONGEST.subject), v.minLength(1))

/** The result of the host's `identity` port. A value that cannot be stored counts as missing, except the subject. */
export const HostIdentity = v.object({
  subject: Subject,
  username: v.fallback(v.optional(Username), undefined),
  email: v.fallback(v.optional(Email), undefined),
  display_name: v.fallback(v.optional(DisplayName), undefined),
  roles: v.fallback(v.optional(v.array(v.fallback(v.optional(Roles.pipe[0].item), undefined))), undefined),
})
export type HostIdentity = v.InferOutput<typeof HostIdentity>

/** An identity at a sign-in provider, as its user reads it. */
export const OwnIdentity = v.object({
  id: Id,
  provider: v.pipe(v.string(), v.description('The configured name of the provider')),
  issuer: v.pipe(v.string(), v.description('The email address at the provider')),
  subject: v.pipe(v.string(), v.description('The id of the user at the provider')),
  created_at: v.pipe(Instant, v.description('When it was linked')),
})
export type OwnIdentity = v.InferOutput<typeof OwnIdentity>

export const OwnIdentities = v.object({ identities: v.array(OwnIdentity) })
export type OwnIdentities = v.InferOutput<typeof OwnIdentities>
