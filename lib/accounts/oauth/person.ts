import * as v from 'valibot'
import type { IdentityKey } from '../identities/store.ts'
import { type Admission, type AdmissionSettings, decideAdmission } from './rules-admission.ts'
import { ProviderProfile } from './schema.ts'

/** A user of a provider. */
export interface ProviderUser extends IdentityKey {
  email?: string
  /** Whether the provider reports the address as verified. */
  email_verified: boolean
  display_name?: string
  /** Candidates for a username, the best first. */
  names: string[]
  /** Whether the person may sign in, and with which roles. */
  admission: Admission
}

/** The configuration of a provider's users. */
export type PersonSettings = AdmissionSettings & { name: string }

/** The fields of `/user/emails` that are read (GitHub REST API, "List email addresses"). */
const GithubEmails = v.array(v.object({ email: v.unknown(), primary: v.boolean(), verified: v.boolean() }))

/**
 * The person described by claims: those of an id_token and of userinfo (OpenID Connect Core, section 5.1), or the
 * profile of a plain OAuth 2 server, where `id` may replace `sub`. Invalid claims count as missing, except the subject.
 *
 * @throws ValiError without a subject
 */
export function toPerson(settings: PersonSettings, issuer: string, claims: Record<string, unknown>): ProviderUser {
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
  const address = {
    ...(email !== undefined && { email }),
    // Some providers send it as a string.
    email_verified: claims.email_verified === true || claims.email_verified === 'true',
  }
  return {
    provider: settings.name,
    issuer,
    subject: String(subject),
    ...address,
    admission: decideAdmission(settings, address, claims),
    ...(display_name && { display_name }),
    names: names.filter((name) => name !== undefined),
  }
}

/** Converts GitHub's response to claims: the primary address is in another response. */
export function githubClaims(user: Record<string, unknown>, emails: unknown): Record<string, unknown> {
  const parsed = v.safeParse(GithubEmails, emails)
  const primary = parsed.success ? parsed.output.find((email) => email.primary && email.verified) : undefined
  return { id: user.id, login: user.login, name: user.name, email: primary?.email, email_verified: Boolean(primary) }
}
