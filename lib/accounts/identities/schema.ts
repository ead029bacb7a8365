import * as v from 'valibot'
import { LONGEST } from '../../core/lengths.ts'
import { Id, Instant, text } from '../../core/schema.ts'
import { DisplayName, Email, Roles, Username } from '../users/schema.ts'

/** The name of a user elsewhere. It is compared as it is: what both databases keep, and no longer than OpenID allows. */
export const Subject = v.pipe(text(LONGEST.subject), v.minLength(1))

/** What a host's login returns. What cannot be kept counts as not said, but for the subject. */
export const HostIdentity = v.object({
  subject: Subject,
  username: v.fallback(v.optional(Username), undefined),
  email: v.fallback(v.optional(Email), undefined),
  display_name: v.fallback(v.optional(DisplayName), undefined),
  roles: v.fallback(v.optional(v.array(v.fallback(v.optional(Roles.pipe[0].item), undefined))), undefined),
})
export type HostIdentity = v.InferOutput<typeof HostIdentity>

/** An identity at a sign-in provider, as its user sees it. */
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
