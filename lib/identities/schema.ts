import * as v from 'valibot'
import { LONGEST, text } from '../schema.ts'
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
