import * as v from 'valibot'
import { ADDRESS_OR_NETWORK } from '../core/addresses.ts'
import { isVisible, PATTERNS } from '../core/characters.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { Id, Instant, oneNamed, text } from '../core/schema.ts'

/** One in 115 days; a lower rate is a ban. */
const MIN_PER_SECOND = 0.000_000_1

/** A rate: `burst` requests at once from rest, then `requests_per_second`. */
export const LimitRate = v.object({
  requests_per_second: v.pipe(
    v.number(),
    v.minValue(MIN_PER_SECOND, 'must be more than 0, and at least one in 115 days'),
    v.maxValue(1_000_000),
    v.description('Requests per second after the burst; may be a fraction, such as 0.5'),
  ),
  burst: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(1_000_000_000),
    v.description('Requests that pass at once after a pause; must refill within a year'),
  ),
})

const Name = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(64),
  v.regex(/^[!-~]([ -~]*[!-~])?$/, 'must be 1 to 64 characters of ASCII: it is the value of a header'),
)

const Description = v.pipe(
  text(MAX_LENGTH.remark),
  v.check((text) => text === '' || isVisible(text), 'must be visible'),
  v.metadata({ pattern: PATTERNS.visible_or_empty }),
  v.description('At least one visible character, or empty'),
)

/** A limit that can be assigned to routes. */
export const LimitProfile = v.object({
  id: Id,
  name: v.string(),
  algorithm: v.literal('gcra'),
  params: LimitRate,
  description: v.optional(v.string()),
  created_at: Instant,
  updated_at: Instant,
})
export type LimitProfile = v.InferOutput<typeof LimitProfile>

export const LimitProfilesQuery = v.object({
  after: v.optional(v.pipe(text(64), v.description('Only profiles whose name comes after this one'))),
})
export type LimitProfilesQuery = v.InferOutput<typeof LimitProfilesQuery>

export const LimitProfileInput = v.object({
  name: Name,
  algorithm: v.optional(v.literal('gcra'), 'gcra'),
  params: LimitRate,
  description: v.optional(Description),
})
export type LimitProfileInput = v.InferOutput<typeof LimitProfileInput>

export const LimitProfileChange = v.object({
  params: LimitRate,
  description: v.optional(
    v.pipe(Description, v.description('At least one visible character. If missing it stays; an empty text removes it')),
  ),
})
export type LimitProfileChange = v.InferOutput<typeof LimitProfileChange>

/** A profile assigned to a route, or to all routes with a path prefix. */
export const LimitAssignment = v.object({
  id: Id,
  profile_id: Id,
  profile_name: v.string(),
  method: v.string(),
  path_pattern: v.string(),
  created_at: Instant,
  updated_at: Instant,
})
export type LimitAssignment = v.InferOutput<typeof LimitAssignment>

export const LimitAssignmentInput = v.object({
  profile_id: Id,
  method: v.pipe(v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', '*']), v.description('`*` is every method')),
  path: v.pipe(
    text(500),
    v.minLength(1),
    v.description("A route's path as in this document, with its parameters, or a prefix followed by `*`"),
  ),
})
export type LimitAssignmentInput = v.InferOutput<typeof LimitAssignmentInput>

/** The user whose limits are shown; without one, all callers. */
export const LimitStatusQuery = v.object({
  user_id: v.optional(v.pipe(Id, v.description('Only what this user has used'))),
})

export const LimitResetOfUser = v.object({ user_id: v.pipe(Id, v.description('A user')) })
export const LimitResetOfAddress = v.object({
  address: v.pipe(
    v.string(),
    v.maxLength(64),
    v.regex(ADDRESS_OR_NETWORK, 'must be an IP address, or the network of one that ends in /64'),
    v.description('The address of callers who are not signed in, or its network, as the status shows it'),
  ),
})

/** The caller whose calls are forgotten: a user or an address. */
export const LimitResetInput = oneNamed(v.union([LimitResetOfUser, LimitResetOfAddress]), ['user_id', 'address'])
export type LimitResetInput = v.InferOutput<typeof LimitResetInput>

/** A caller whose next call would be refused. */
export const Throttled = v.object({
  limit: v.pipe(v.string(), v.description('`sign_in`, or the name of a profile')),
  method: v.pipe(v.optional(v.string()), v.description('The method of the assignment; missing for `sign_in`')),
  path: v.pipe(v.optional(v.string()), v.description('The path of the assignment; missing for `sign_in`')),
  user_id: v.optional(Id),
  username: v.optional(v.string()),
  address: v.pipe(
    v.optional(v.string()),
    v.description('The address of a caller who is not signed in; of IPv6 its network'),
  ),
  until: v.pipe(Instant, v.description('When a call is allowed again')),
})

/** How sign-ins went since an instant. */
export const SignInCounts = v.pipe(
  v.object({
    since: Instant,
    succeeded: v.number(),
    failed: v.number(),
    throttled: v.pipe(v.number(), v.description('Refused without a look at the password')),
  }),
  v.description('Of the last 24 hours, as far as the newest 100,000 entries of the audit log reach'),
)

/** The callers that are throttled now, and how sign-ins went. */
export const LimitStatus = v.object({
  throttled: v.pipe(v.array(Throttled), v.description('At most 200, the longest first')),
  is_complete: v.pipe(v.boolean(), v.description('Whether `throttled` has them all')),
  locked_accounts: v.pipe(
    v.number(),
    v.description('How many names of sign-in are locked after failures; at most 10,000 are counted'),
  ),
  sign_ins: SignInCounts,
})

/** The result of a reset. */
export const LimitReset = v.object({ reset: v.pipe(v.number(), v.description('The number of forgotten counts')) })

export type LimitStatus = v.InferOutput<typeof LimitStatus>
export type Throttled = v.InferOutput<typeof Throttled>
