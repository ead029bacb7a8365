import * as v from 'valibot'
import { Claim } from '../../accounts/sessions/schema.ts'
import { DisplayName, Email, OptionalUsername, Password, Person } from '../../accounts/users/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Cursor, Id, Instant, Limit, opaque } from '../../core/schema.ts'
import { ParticipantRole } from '../conversations/schema.ts'

/** The maximum of `invites.max_uses`. */
export const MAX_USES = 100_000

const DAY_SECONDS = 24 * 60 * 60

/** A new invite: for one email address, or for any user with the token. */
export const InviteInput = v.object({
  email: v.optional(v.pipe(Email, v.description('Only the user with this address may accept'))),
  role: v.optional(ParticipantRole, 'member'),
  ttl_seconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(60), v.maxValue(30 * DAY_SECONDS)), DAY_SECONDS),
  max_uses: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(MAX_USES),
      v.description('At most `invites.max_uses` (100)'),
    ),
    1,
  ),
  mail: v.optional(
    v.pipe(
      v.boolean(),
      v.description('Mail the token to `email`, and do not return it: accepting then verifies the address'),
    ),
    false,
  ),
})
export type InviteInput = v.InferOutput<typeof InviteInput>

/** A created invite; its token is returned only here, and not if it is mailed. */
export const CreatedInvite = v.object({
  token: v.optional(v.pipe(v.string(), v.description('Missing with `mail: true`'))),
  expires_at: Instant,
  invite_id: Id,
})
export type CreatedInvite = v.InferOutput<typeof CreatedInvite>

/** An invite that can still be accepted. */
export const Invite = v.object({
  id: Id,
  email: v.optional(v.string()),
  role: ParticipantRole,
  uses: v.pipe(v.number(), v.integer()),
  max_uses: v.pipe(v.number(), v.integer()),
  created_by: v.optional(Id),
  created_at: Instant,
  expires_at: Instant,
})
export type Invite = v.InferOutput<typeof Invite>

export const InvitesQuery = v.object({
  after: v.optional(Cursor),
  limit: Limit(200, 1000),
})
export type InvitesQuery = v.InferOutput<typeof InvitesQuery>

/** A page of the invites that can still be accepted, latest first. */
export const Invites = v.object({
  invites: v.array(Invite),
  total: v.pipe(v.number(), v.integer(), v.description('The total of all pages')),
  next_after: v.optional(v.string()),
})
export type Invites = v.InferOutput<typeof Invites>

/** The token, and without a session the account to create. */
export const Acceptance = v.object({
  token: opaque(MAX_LENGTH.token),
  username: OptionalUsername,
  display_name: v.optional(DisplayName),
  email: v.optional(Email),
  password: v.optional(Password),
  claim: Claim,
})
export type Acceptance = v.InferOutput<typeof Acceptance>

/** The token of an invite to look at. */
export const InviteToken = v.object({ token: opaque(MAX_LENGTH.token) })
export type InviteToken = v.InferOutput<typeof InviteToken>

/** What an invite is for, before it is accepted. */
export const InvitePreview = v.object({
  kind: v.pipe(v.picklist(['conversation', 'service']), v.description('What it is an invite to')),
  title: v.optional(v.pipe(v.string(), v.description('The title of the conversation, if it has one'))),
  participant_count: v.optional(v.pipe(v.number(), v.integer())),
  invited_by: v.optional(Person),
  email: v.optional(v.pipe(v.string(), v.description('The only address that may accept'))),
  expires_at: Instant,
  can_sign_up: v.pipe(v.boolean(), v.description('Whether a new user can sign up with it')),
})
export type InvitePreview = v.InferOutput<typeof InvitePreview>

export const Accepted = v.object({ conversation_id: Id })
export type Accepted = v.InferOutput<typeof Accepted>
