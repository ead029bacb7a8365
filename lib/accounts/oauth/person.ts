import * as v from 'valibot'
import type { IdentityKey } from '../identities/store.ts'
import { ProviderProfile } from './schema.ts'

/** Who comes back from a provider. */
export interface Person extends IdentityKey {
  email?: string
  /** Whether the provider says that the address is theirs. */
  email_verified: boolean
  display_name?: string
  /** What they may want to be called, the best first. */
  names: string[]
}

/** Of `/user/emails`, all that is looked at (GitHub REST API, "List email addresses"). */
const GithubEmails = v.array(v.object({ email: v.unknown(), primary: v.boolean(), verified: v.boolean() }))

/**
 * The person that claims describe: those of an id_token and of userinfo (OpenID Connect Core, section 5.1), or what a
 * plain OAuth 2 server says of itself, where `id` may stand for `sub`. What is malformed counts as not said, but for the
 * subject.
 *
 * @throws ValiError without a subject
 */
export function toPerson(provider: string, issuer: string, claims: Record<string, unknown>): Person {
  const { subject, email, display_name, names } = v.parse(
    ProviderProfile,
    {
      subject: claims.sub ?? claims.id,
      email: claims.email,
      display_name: claims.name,
      names: [claims.preferred_username, claims.login, claims.username, claims.nickname, claims.name],
    },
    { abortPipeEarly: true },
  )
  return {
    provider,
    issuer,
    subject: String(subject),
    ...(email !== undefined && { email }),
    // Some providers send it as a text.
    email_verified: claims.email_verified === true || claims.email_verified === 'true',
    ...(display_name && { display_name }),
    names: names.filter((name) => name !== undefined),
  }
}

/** Claims as other providers have them, from what GitHub answers: the one address that counts is elsewhere. */
export function githubClaims(user: Record<string, unknown>, emails: unknown): Record<string, unknown> {
  const parsed = v.safeParse(GithubEmails, emails)
  const primary = parsed.success ? parsed.output.find((each) => each.primary && each.verified) : undefined
  return { id: user.id, login: user.login, name: user.name, email: primary?.email, email_verified: Boolean(primary) }
}
