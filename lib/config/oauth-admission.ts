import * as v from 'valibot'
import { reloadableKey as key, section, text } from './key.ts'

const MAX_ITEMS = 1000

/** For the whole list and for each item. */
const DOMAINS_FORM = 'must be a list of domains, such as example.org'
const EMAILS_FORM = 'must be a list of email addresses'
const CLAIMS_FORM = 'must be a table of claims, each with the value or the list of values that it may have'

const domains = v.pipe(
  v.array(
    v.pipe(
      v.string(DOMAINS_FORM),
      v.regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/i, DOMAINS_FORM),
      v.maxLength(253, DOMAINS_FORM),
      v.toLowerCase(),
    ),
    DOMAINS_FORM,
  ),
  v.maxLength(MAX_ITEMS, `must have at most ${MAX_ITEMS} items`),
)

const emails = v.pipe(
  v.array(v.pipe(text, v.maxLength(254, EMAILS_FORM), v.regex(/^[^\s@]+@[^\s@]+$/, EMAILS_FORM)), EMAILS_FORM),
  v.maxLength(MAX_ITEMS, `must have at most ${MAX_ITEMS} items`),
)

const claimValue = v.union([text, v.number(), v.boolean()], CLAIMS_FORM)

const claims = v.pipe(
  v.record(
    v.pipe(text, v.nonEmpty(CLAIMS_FORM)),
    v.union(
      [claimValue, v.pipe(v.array(claimValue), v.nonEmpty(CLAIMS_FORM), v.maxLength(MAX_ITEMS, CLAIMS_FORM))],
      CLAIMS_FORM,
    ),
    CLAIMS_FORM,
  ),
  v.check((rule) => Object.keys(rule).length > 0 && Object.keys(rule).length <= MAX_ITEMS, CLAIMS_FORM),
)

/**
 * Claims by name, each with the value or the values of which one is required: `{ groups: ['staff', 'chat'] }`. A name
 * with dots also leads into nested claims: `realm_access.roles`.
 */
export type ClaimRule = v.InferOutput<typeof claims>

/** The keys of a provider that decide which persons may sign in through it, and with which roles. */
export const ADMISSION_KEYS = {
  allowed_domains: key(
    domains,
    undefined,
    'Only users with an email address in one of these domains may sign in, if the provider reports the address as verified. A subdomain is another domain.',
  ),
  allowed_emails: key(
    emails,
    undefined,
    'Only users with one of these verified email addresses may sign in, or with one in allowed_domains.',
  ),
  required_claims: key(
    claims,
    undefined,
    'Only users with all of these claims may sign in. Each has the value, or a list of values of which one must be there, such as { groups = ["staff"] }.',
  ),
  role_claims: section({
    admin: key(
      claims,
      undefined,
      'Claims that make a user an administrator. With any key of this section, the highest role whose claims are there is set at every sign-in.',
    ),
    member: key(claims, undefined, 'Claims that make a user a member; default: every user that no other role matches.'),
    read_only: key(claims, undefined, 'Claims that let a user only read.'),
  }),
}
