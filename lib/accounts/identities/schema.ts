import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, opaque } from '../../core/schema.ts'
import { Account, AvatarUrl, DisplayName, Email, Roles, Subject, Username } from '../users/schema.ts'

/** The number of cookies that a host may set with a response: browsers keep about fifty of a site. */
const MAX_COOKIES = 20

/** A header line: one that Node would refuse must not make the request fail. */
const SetCookie = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(MAX_LENGTH.cookie),
  v.regex(/^[\t\x20-\x7e\x80-\xff]+$/),
)
const SetCookies = v.pipe(v.array(SetCookie), v.maxLength(MAX_COOKIES))

/** Not beyond what instants of a database can be. */
const UnixSeconds = v.pipe(v.number(), v.minValue(0), v.maxValue(9e9))

/** The result of the host's `identity` port. A value that cannot be stored counts as missing, except the subject. */
export const HostIdentity = v.object({
  subject: Subject,
  username: v.fallback(v.optional(Username), undefined),
  email: v.fallback(v.optional(Email), undefined),
  display_name: v.fallback(v.optional(DisplayName), undefined),
  avatar_url: v.fallback(v.optional(AvatarUrl), undefined),
  roles: v.fallback(v.optional(v.array(v.fallback(v.optional(Roles.pipe[0].item), undefined))), undefined),
  issued_at: v.fallback(v.optional(UnixSeconds), undefined),
  expires_at: v.fallback(v.optional(UnixSeconds), undefined),
  // What cannot be read as a list allows nothing.
  scopes: v.optional(v.fallback(v.array(opaque(MAX_LENGTH.token)), [])),
  set_cookie: v.fallback(
    v.optional(
      v.union([
        v.pipe(
          SetCookie,
          v.transform((line) => [line]),
        ),
        SetCookies,
      ]),
    ),
    undefined,
  ),
})
export type HostIdentity = v.InferOutput<typeof HostIdentity>

/** A person of the host's. A missing field keeps its value, or gets a placeholder for a new user. */
export const HostPerson = v.object({
  subject: v.pipe(
    Subject,
    v.description('Your own id of the person: it never changes and is never reused for another person'),
  ),
  username: v.optional(Username),
  email: v.optional(v.pipe(Email, v.description('It counts as verified: the host vouches for it'))),
  display_name: v.optional(
    v.pipe(DisplayName, v.description('At least one visible character; an empty text removes it')),
  ),
  avatar_url: v.optional(AvatarUrl),
  roles: v.optional(Roles),
})
export type HostPerson = v.InferOutput<typeof HostPerson>

/** What a client of the service stores of a person of the host's, whose subject is in the path. */
export const PersonInput = v.omit(HostPerson, ['subject'])
export type PersonInput = v.InferOutput<typeof PersonInput>

/** The user of a person of the host's. */
export const EnsuredAccount = v.object({
  user: Account,
  created: v.pipe(v.boolean(), v.description('Whether this call has created the user')),
})
export type EnsuredAccount = v.InferOutput<typeof EnsuredAccount>

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
