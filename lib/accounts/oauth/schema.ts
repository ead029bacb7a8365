import * as v from 'valibot'
import { isLocalPath, PATTERNS } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { text } from '../../core/schema.ts'
import { DisplayName, Email, Subject } from '../users/schema.ts'

/** Longer than any code, and too short to fill a database or a log. */
const MAX_CODE_LENGTH = 4096

const Code = v.pipe(text(MAX_CODE_LENGTH), v.minLength(1))

/** A path of this service's own site: no browser may read it as an address of another site. */
const LocalPath = v.pipe(
  text(MAX_LENGTH.url),
  v.check(isLocalPath, 'must be a path of this site, such as /chat'),
  v.metadata({ pattern: PATTERNS.local_path }),
  v.description('Where the browser goes afterwards: a path of this site'),
)

export const OauthBegin = v.object({
  redirect_to: v.optional(LocalPath, '/'),
  link: v.optional(v.pipe(v.boolean(), v.description('Adds the identity to the account that is signed in')), false),
  claim: v.optional(
    v.pipe(v.boolean(), v.description('Merges the guest whose session cookie comes along into the user who signs in')),
    false,
  ),
})
export type OauthBegin = v.InferOutput<typeof OauthBegin>

export const OauthBegun = v.object({
  auth_url: v.pipe(v.string(), v.description('Where the browser goes to sign in')),
})
export type OauthBegun = v.InferOutput<typeof OauthBegun>

/** The callback parameters of a provider (RFC 6749, section 4.1.2; `iss`: RFC 9207). */
export const OauthReturn = v.object({
  code: v.optional(v.pipe(Code, v.description('The authorization code from the provider'))),
  state: v.optional(v.pipe(text(MAX_LENGTH.token), v.description('The state of the attempt, as sent to the provider'))),
  iss: v.optional(v.pipe(text(MAX_LENGTH.url), v.description('The issuer, if the provider sends it'))),
  error: v.optional(
    v.pipe(text(MAX_CODE_LENGTH), v.description('Error of the provider instead of a code, such as `access_denied`')),
  ),
})
export type OauthReturn = v.InferOutput<typeof OauthReturn>

export const ManualCode = v.object({
  auth_code: Code,
  state: v.optional(
    v.pipe(text(MAX_LENGTH.token), v.description("Default: that of this browser's last attempt, if there is one")),
  ),
})
export type ManualCode = v.InferOutput<typeof ManualCode>

/**
 * The fields read from a person's profile at a provider. A value that cannot be stored counts as missing, except the
 * subject.
 */
export const ProviderProfile = v.object({
  /** A string, or a number, which must not have lost digits. */
  subject: v.union([Subject, v.pipe(v.number(), v.safeInteger())]),
  email: v.fallback(v.optional(Email), undefined),
  display_name: v.fallback(v.optional(DisplayName), undefined),
  /** Candidates for a username, the best first. */
  names: v.array(v.fallback(v.optional(text(MAX_LENGTH.name)), undefined)),
})
