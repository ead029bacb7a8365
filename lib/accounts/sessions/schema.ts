import * as v from 'valibot'
import { REACHES, type ServiceRight } from '../../core/access.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Cursor, Id, Instant, Limit, text } from '../../core/schema.ts'
import { ChosenUsername, DisplayName, Password, User } from '../users/schema.ts'

/** Whether a sign-in takes what a guest has. */
export const Claim = v.optional(
  v.pipe(
    v.boolean(),
    v.description('Merges the guest whose session cookie comes along into the user. Without it, that session ends'),
  ),
)

export const Credentials = v.object({
  email: text(MAX_LENGTH.email),
  password: text(MAX_LENGTH.password),
  claim: Claim,
})
export type Credentials = v.InferOutput<typeof Credentials>

/** A session as its user reads it: `expires_at` moves with use, `absolute_expires_at` never. */
export const Session = v.object({ id: Id, issued_at: Instant, expires_at: Instant, absolute_expires_at: Instant })
export type Session = v.InferOutput<typeof Session>

const Towards = v.optional(v.picklist(REACHES))
const Given = v.optional(v.literal(true))

/** The rights of the caller in the service, without missing ones; `shared`: towards users of a common private conversation. */
export const ServiceCan = v.object({
  find_users: Towards,
  add_people: Towards,
  open_direct: Towards,
  create_conversations: Given,
  browse: Given,
  invite: Given,
  upload: Given,
  ask_assistant: Given,
  mention_all: Given,
  keys: Given,
  post: Given,
  react: Given,
  publish: Given,
  moderate: Given,
} satisfies Record<ServiceRight, unknown>)

/** The caller; without a session for an API key, and with a host's own authentication. */
export const MeAnswer = v.object({
  user: User,
  session: v.optional(Session),
  receipts: v.pipe(v.boolean(), v.description('Whether the caller shares read markers, and sees those of others')),
  can: ServiceCan,
})
export type MeAnswer = v.InferOutput<typeof MeAnswer>

export const LoginAnswer = v.object({ user: User, session: Session, csrf_token: v.string() })
export type LoginAnswer = v.InferOutput<typeof LoginAnswer>

/** One of the caller's own sessions in a list. */
export const OwnSession = v.object({
  ...Session.entries,
  last_seen_at: Instant,
  user_agent: v.optional(v.string()),
  ip: v.optional(v.string()),
  current: v.pipe(v.boolean(), v.description('Whether this is the session of the request')),
})
export type OwnSession = v.InferOutput<typeof OwnSession>

export const OwnSessionsQuery = v.object({
  after: v.optional(Cursor),
  limit: Limit(200, 1000),
})
export type OwnSessionsQuery = v.InferOutput<typeof OwnSessionsQuery>

/** A page of the caller's own sessions, the last used first. */
export const OwnSessions = v.object({ sessions: v.array(OwnSession), next_after: v.optional(v.string()) })
export type OwnSessions = v.InferOutput<typeof OwnSessions>

export const ProfileChange = v.object({
  display_name: v.optional(v.pipe(DisplayName, v.description('At least one visible character. Empty: none'))),
  username: v.optional(ChosenUsername),
  receipts: v.optional(v.pipe(v.boolean(), v.description('`false`: share no read markers, and see none of others'))),
})
export type ProfileChange = v.InferOutput<typeof ProfileChange>

/** The password that confirms the user of a session. */
export const Confirmation = v.object({ password: text(MAX_LENGTH.password) })
export type Confirmation = v.InferOutput<typeof Confirmation>

export const PasswordChange = v.object({ current_password: text(MAX_LENGTH.password), new_password: Password })
export type PasswordChange = v.InferOutput<typeof PasswordChange>
