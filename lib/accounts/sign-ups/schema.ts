import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, opaque } from '../../core/schema.ts'
import { Claim, LoginAnswer } from '../sessions/schema.ts'
import { DisplayName, Email, OptionalUsername, Password, Roles } from '../users/schema.ts'

/** The most conversations that an invite names. */
const MAX_ROOMS = 10

const DAY_SECONDS = 24 * 60 * 60

/** A newcomer to invite. */
export const NewcomerInput = v.object({
  email: Email,
  roles: v.optional(Roles, ['member']),
  ttl_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(60), v.maxValue(30 * DAY_SECONDS)),
    7 * DAY_SECONDS,
  ),
  mail: v.optional(v.pipe(v.boolean(), v.description('false: the token is returned and not mailed')), true),
  conversation_ids: v.optional(
    v.pipe(
      v.array(Id),
      v.maxLength(MAX_ROOMS),
      v.description(
        'The newcomer joins them; the caller is owner or admin of each. One that is deleted by then is skipped',
      ),
    ),
    [],
  ),
})
export type NewcomerInput = v.InferOutput<typeof NewcomerInput>

/** An invite of a newcomer; `token` and `url` if it is not mailed. */
export const Newcomer = v.object({
  id: Id,
  email: v.string(),
  roles: Roles,
  conversation_ids: v.optional(v.array(Id)),
  created_by: v.optional(Id),
  created_at: Instant,
  expires_at: Instant,
})
export type Newcomer = v.InferOutput<typeof Newcomer>

export const InvitedNewcomer = v.object({
  ...Newcomer.entries,
  mailed: v.boolean(),
  token: v.optional(v.string()),
  url: v.optional(v.string()),
})
export type InvitedNewcomer = v.InferOutput<typeof InvitedNewcomer>

export const NewcomersQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type NewcomersQuery = v.InferOutput<typeof NewcomersQuery>

/** A page of the open invites of newcomers, oldest first. */
export const NewcomerPage = v.object({ invites: v.array(Newcomer), next_after: v.optional(Id) })
export type NewcomerPage = v.InferOutput<typeof NewcomerPage>

/** A sign-up with a mailed token; the address is that of the invite. */
export const SignUp = v.object({
  token: opaque(MAX_LENGTH.token),
  username: OptionalUsername,
  password: Password,
  display_name: v.optional(DisplayName),
  claim: Claim,
})
export type SignUp = v.InferOutput<typeof SignUp>

/** A sign-in of a new user; with the first conversation that the invite has led to. */
export const SignUpAnswer = v.object({ ...LoginAnswer.entries, conversation_id: v.optional(Id) })
export type SignUpAnswer = v.InferOutput<typeof SignUpAnswer>
