import type { ProviderSettings } from '../../config/oauth.ts'
import type { ClaimRule } from '../../config/oauth-admission.ts'
import type { Role } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import type { ProviderUser } from './person.ts'

/** What the configuration of a provider decides about a person. */
export interface Admission {
  /** Why the person may not sign in: for the log, without a value of a claim. */
  refusal?: string
  /** The roles that the claims give; missing where no claim gives roles. */
  roles?: Role[]
}

/** Claims nested deeper are not looked up. */
const MAX_DEPTH = 8

/** The keys of a provider that decide. */
export type AdmissionSettings = Partial<
  Pick<ProviderSettings, 'allowed_domains' | 'allowed_emails' | 'required_claims' | 'role_claims'>
>

type RoleRules = NonNullable<AdmissionSettings['role_claims']>

/** Whether a person may sign in through a provider, and with which roles: decided again at every sign-in. */
export function decideAdmission(
  settings: AdmissionSettings,
  person: Pick<ProviderUser, 'email' | 'email_verified'>,
  claims: Record<string, unknown>,
): Admission {
  const { required_claims = {}, role_claims = {} } = settings
  const missing = Object.keys(required_claims).find((name) => !matches({ [name]: required_claims[name]! }, claims))
  const refusal =
    missing === undefined ? refusalOfAddress(settings, person) : `the claim ${missing} has none of the required values`
  return {
    ...(refusal !== undefined && { refusal }),
    ...(Object.keys(role_claims).length > 0 && { roles: rolesOf(role_claims, claims) }),
  }
}

/** The names of the claims that decide: a provider may have them only in userinfo. */
export function decisiveClaims({ required_claims = {}, role_claims = {} }: AdmissionSettings): string[] {
  return [required_claims, ...Object.values(role_claims)].flatMap((rule) => Object.keys(rule))
}

/** The value of a claim: of the name itself, or of the path that its dots describe. */
export function findClaim(claims: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.', MAX_DEPTH)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

function refusalOfAddress(
  { allowed_domains, allowed_emails }: AdmissionSettings,
  { email, email_verified }: Pick<ProviderUser, 'email' | 'email_verified'>,
): string | undefined {
  if (!allowed_domains && !allowed_emails) return undefined
  if (email === undefined) return 'the provider tells no email address'
  // An address that is not verified may belong to another person.
  if (!email_verified) return 'the provider does not report the email address as verified'
  const key = uniqueKey(email)
  const isAllowed =
    allowed_domains?.includes(key.slice(key.lastIndexOf('@') + 1)) ||
    allowed_emails?.some((allowed) => uniqueKey(allowed) === key)
  return isAllowed ? undefined : 'the email address is not allowed'
}

/** The highest role whose claims are present; without any, the lowest for which no claims are required. */
function rolesOf(rules: RoleRules, claims: Record<string, unknown>): Role[] {
  if (rules.admin && matches(rules.admin, claims)) return ['admin', 'member']
  if (rules.member ? matches(rules.member, claims) : !rules.read_only || !matches(rules.read_only, claims))
    return ['member']
  return ['read_only']
}

function matches(rule: ClaimRule, claims: Record<string, unknown>): boolean {
  return Object.entries(rule).every(([name, wanted]) => {
    const values = textsOf(findClaim(claims, name))
    return textsOf(wanted).some((value) => values.includes(value))
  })
}

function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value]
  return list.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).map(String)
}
