import * as v from 'valibot'
import type { IdentityKey } from '../identities/store.ts'
import { Text } from '../schema.ts'
import { DisplayName, Email } from '../users/schema.ts'

/** Who comes back from a provider. */
export interface Person extends IdentityKey {
  email?: string
  /** Whether the provider says that the address is theirs. */
  email_verified: boolean
  display_name?: string
  /** What they may want to be called, the best first. */
  names: string[]
}

const Subject = v.pipe(Text, v.minLength(1), v.maxLength(255))

/** Either as it is written, or as a number, which must not have lost digits. */
const PlainSubject = v.union([Subject, v.pipe(v.number(), v.safeInteger())])

/** Of `/user/emails`, all that is looked at (GitHub REST API, "List email addresses"). */
const GithubEmails = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }))

/**
 * The person that claims describe: those of an id_token and of userinfo (OpenID Connect Core, section 5.1), or what a
 * plain OAuth 2 server says of itself, where `id` may stand for `sub`. What is malformed counts as not said, but for the
 * subject.
 *
 * @throws ValiError without a subject
 */
export function toPerson(provider: string, issuer: string, claims: Record<string, unknown>): Person {
  const subject = String(v.parse(PlainSubject, claims.sub ?? claims.id))
  const email = v.is(Email, claims.email) ? claims.email : undefined
  const names = [claims.preferred_username, claims.login, claims.username, claims.nickname, claims.name]
  return {
    provider,
    issuer,
    subject,
    ...(email !== undefined && { email }),
    // Some providers send it as a text.
    email_verified: claims.email_verified === true || claims.email_verified === 'true',
    ...(v.is(DisplayName, claims.name) && claims.name !== '' && { display_name: claims.name }),
    names: names.filter((name) => v.is(Text, name)),
  }
}

/** Claims as other providers have them, from what GitHub answers: the one address that counts is elsewhere. */
export function githubClaims(user: Record<string, unknown>, emails: unknown): Record<string, unknown> {
  const parsed = v.safeParse(GithubEmails, emails)
  const primary = parsed.success ? parsed.output.find((each) => each.primary && each.verified) : undefined
  return { id: user.id, login: user.login, name: user.name, email: primary?.email, email_verified: Boolean(primary) }
}
