import * as v from 'valibot'
import type { Context, IdentityRequest } from '../../context.ts'
import { hasServiceRight } from '../../core/access.ts'
import { type Actor, MCP_SCOPES, splitRoles } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { unknownNames } from '../../core/known-names.ts'
import { namesIn } from '../../core/schema-names.ts'
import { SECOND } from '../../core/units.ts'
import type { HostLogin, Login } from '../../live/readers/reader.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { isTaken } from '../../storage/errors.ts'
import type { Micros } from '../../storage/sql.ts'
import type { AuditActor } from '../audit/store.ts'
import { HostIdentity } from '../identities/schema.ts'
import {
  findIdentity,
  hostKey,
  type IdentifiedUser,
  type IdentityKey,
  insertIdentity,
  setClaimed,
} from '../identities/store.ts'
import type { FindBearer } from '../jwt/tokens.ts'
import { endMeans } from '../means/ending.ts'
import { refuseTokens } from '../means/store.ts'
import { revokeNewcomers } from '../sign-ups/revocation.ts'
import { announceChange } from '../users/announcing.ts'
import { isOwnPhoto } from '../users/photos.ts'
import { assertSparesAdministrators, kindWith, rolesWith } from '../users/rules.ts'
import { findUserByEmail, findUserByUsername, lockUser, type ShownUser, type UserRow } from '../users/store.ts'
import { findTokenFloor } from '../users/store-deleting.ts'
import { insertUser, updateProfile } from '../users/store-naming.ts'
import { withKnownRoles } from './known-roles.ts'
import { placeholderUser, toProfile } from './rules.ts'

/** A user of the host's, as it is stored. */
export type HostUser = ShownUser &
  Pick<UserRow, 'disabled_at' | 'created_at'> &
  Partial<Pick<IdentifiedUser, 'tokens_after' | 'claims_at'>> & {
    /** Set where the call has created the user. */
    is_new?: boolean
  }

/** How often to retry after a conflict with another request for the same user or name. */
const MAX_ATTEMPTS = 5

/**
 * The caller of a request, identified by the host. A new subject becomes a user; later changes are stored. A name or an
 * address that another user has is not taken over: an equal address never gives access to another account.
 *
 * @throws ChatError `unauthenticated` for a caller the host does not know, for a disabled user, for a subject that
 *   cannot be stored, and for an identity with an unknown field
 */
export async function identify(ctx: Context, request: IdentityRequest): Promise<Identified> {
  const at = ctx.now()
  const hostIdentity = await ctx.host.identity?.(request)
  if (!hostIdentity) throw new ChatError('unauthenticated')
  const [unknown] = unknownNames(hostIdentity, namesIn(HostIdentity))
  if (unknown) {
    // A misspelt name would be ignored, and with it the roles, or the address.
    ctx.log.error(`ports.identity: an identity has no "${unknown.path}"${unknown.hint}`)
    throw new ChatError('unauthenticated', { message: 'The login of the host gave an unknown field.' })
  }
  const { success, output: identity } = v.safeParse(HostIdentity, hostIdentity, { abortPipeEarly: true })
  if (!success) {
    // If it were stored, two users could become one: a database may cut a text off, or change what it cannot store.
    ctx.log.error(`ports.identity: ${NO_SUBJECT}`)
    throw new ChatError('unauthenticated', { message: NO_SUBJECT })
  }
  const { subject, set_cookie } = identity
  const ask = async () => (await ctx.host.identity!(request))?.subject === subject
  const actor = await admit(ctx, identity, { at, ip: request.ip, ask })
  const { scopes } = identity
  if (request.audience !== undefined && scopes) actor.mcp_scopes = MCP_SCOPES.filter((scope) => scopes.includes(scope))
  return { actor, ...(set_cookie && { set_cookie }) }
}

/**
 * The caller of a signed token, as {@link identify}.
 *
 * @throws ChatError `session_expired`, `unauthenticated`; `unavailable` while the keys of tokens cannot be read
 */
export async function identifyByToken(
  ctx: Context,
  find: FindBearer,
  { token, token_hash, ip }: { token: string; token_hash: string; ip: string | undefined },
): Promise<Actor> {
  const at = ctx.now()
  const identity = await find(token, token_hash)
  return admit(ctx, identity, { at, ip })
}

/** What a token of the host's says: its subject, and whether it is refused for the user of that subject. */
interface ReadToken {
  subject: string
  isRefused: (user: HostUser) => boolean
}

/**
 * What a token says that is not the caller's own, whether the service verifies it or the login of the host does.
 *
 * @returns `undefined` without either
 * @throws ChatError `unauthenticated`, `session_expired`; `unavailable` while the keys of tokens cannot be read
 */
export async function identifyAs({ accounts, host }: Context, token: string): Promise<ReadToken | undefined> {
  const headers = new Headers({ authorization: `Bearer ${token}` })
  const request = new Request('http://localhost/', { headers })
  const given = accounts.bearers
    ? await accounts.bearers(token, digest(token))
    : await host.identity?.({ request, headers })
  const { success, output: identity } = v.safeParse(HostIdentity, given, { abortPipeEarly: true })
  return success ? { subject: identity.subject, isRefused: (user) => isRefused(user, identity) } : undefined
}

/** The user of what a host or a token says; its streams follow what was said. */
async function admit(
  ctx: Context,
  given: HostIdentity,
  { at, ip, ask }: Pick<Login, 'at'> & { ip: string | undefined; ask?: HostLogin['ask'] },
): Promise<Actor> {
  const identity = withKnownRoles(ctx, given)
  const { subject, issued_at, expires_at } = identity
  const user = await upsertHostUser(ctx, identity, { ip })
  if (isRefused(user, identity)) throw new ChatError('unauthenticated')
  const actor: Actor = { user_id: user.id, roles: splitRoles(user.roles) }
  const host = ask && { subject, ask }
  ctx.streams.logins.set(actor, { at, host, issued_at: toMicros(issued_at), expires_at: toMicros(expires_at) })
  return actor
}

/** An instant of a proof, in seconds since 1970, as it is stored. */
function toMicros(seconds: number): Micros
function toMicros(seconds: number | undefined): Micros | undefined
function toMicros(seconds: number | undefined): Micros | undefined {
  return seconds === undefined ? undefined : Math.floor(seconds * SECOND)
}

/** Whether a user may not call with a proof of this instant. */
const isRefused = (user: HostUser, identity: HostIdentity) =>
  user.disabled_at !== null || isFromBefore(identity, user.tokens_after ?? 0)

/** Whether a proof was issued up to this instant. */
const isFromBefore = ({ issued_at }: HostIdentity, floor: Micros) =>
  issued_at !== undefined && toMicros(issued_at) <= floor

/** Whether the stored names are from a later proof. */
const isOutdated = ({ claims_at }: HostUser, { issued_at }: HostIdentity) =>
  issued_at !== undefined && toMicros(issued_at) < (claims_at ?? 0)

/** Whether the instant of a proof is to be stored, also with the same names: an earlier one with others must not replace them. */
const isClaimDue = ({ claims_at }: HostUser, { issued_at }: HostIdentity) =>
  issued_at !== undefined && toMicros(issued_at) > (claims_at ?? 0)

/** Stores the instant of a proof, if it has one. */
async function noteClaim(tx: Tx, { subject, issued_at }: HostIdentity): Promise<void> {
  if (issued_at !== undefined) await setClaimed(tx, hostKey(subject), toMicros(issued_at))
}

/** A caller that the host knows, and the cookies that it sets. */
interface Identified {
  actor: Actor
  set_cookie?: string[]
}

const NO_SUBJECT =
  'The login of the host gave no usable subject: text of 1 to 255 characters, without NUL and lone surrogates.'

/**
 * The user of a person of the host's, created or updated if that is necessary: the same one at every call.
 *
 * @param admin an actor who changes it as an administrator, and must still be one
 */
export async function upsertHostUser(
  ctx: Context,
  identity: HostIdentity,
  by: AuditActor,
  admin?: Actor,
): Promise<HostUser> {
  const existing = await findIdentity(ctx.db, hostKey(identity.subject))
  if (existing) assertSparesAdministrators(existing, by)
  if (existing && (await isCurrent(ctx, existing, identity))) return existing
  // A proof that is shown again and again takes no transaction.
  if (!existing) await requireFloor(ctx.db, identity)
  for (let left = MAX_ATTEMPTS - 1; ; left--) {
    try {
      return await ctx.write(async (tx) => {
        if (admin) await ctx.accounts.assertStillAdmin(tx, admin)
        return createOrUpdate(ctx, tx, identity, by)
      })
    } catch (error) {
      const isRace = error instanceof ChatError ? error.status === 409 : isTaken(error)
      if (!isRace || left === 0) throw error
    }
  }
}

/** Whether nothing is to be stored of a user: the proof is refused, older than the names, or gives the same. */
async function isCurrent(ctx: Context, user: HostUser, identity: HostIdentity): Promise<boolean> {
  if (isRefused(user, identity) || isOutdated(user, identity)) return true
  return !isClaimDue(user, identity) && isSame(user, await profileOf(ctx.db, identity, user, ctx.now()))
}

/** Creates or updates the user. @throws ChatError 409 when another request was faster */
async function createOrUpdate(ctx: Context, tx: Tx, identity: HostIdentity, by: AuditActor): Promise<HostUser> {
  const existing = await findLocked(tx, hostKey(identity.subject))
  if (existing) assertSparesAdministrators(existing, by)
  if (existing && (isRefused(existing, identity) || isOutdated(existing, identity))) return existing
  const profile = await profileOf(tx, identity, existing ?? placeholderUser(ctx.id(), toProfile(identity)), ctx.now())
  if (existing) {
    await noteClaim(tx, identity)
    if (isSame(existing, profile)) return existing
    await updateProfile(tx, profile, ctx.now())
    announceChange(tx, existing, { ...existing, ...profile })
    if (uniqueKey(profile.email) !== uniqueKey(existing.email))
      await endMeans(ctx, tx, { user_id: existing.id }, 'new_address', { by })
    const roles = splitRoles(profile.roles)
    if (!hasServiceRight(ctx.access, roles, 'invite')) await ctx.accounts.revokeInvites(tx, existing.id)
    else if (!roles.includes('admin')) await revokeNewcomers(tx, existing.id)
    tx.audit({ act: 'user.changed', ...by, subject_id: existing.id, detail: { by: 'host', roles: profile.roles } })
    return { ...existing, ...profile }
  }
  const floor = await requireFloor(tx, identity)
  const row: UserRow = { ...profile, password_hash: null, disabled_at: null, created_at: ctx.now() }
  const conflict = await insertUser(tx, row)
  if (conflict) throw new ChatError(conflict)
  const linked = { ...hostKey(identity.subject), id: ctx.id(), user_id: row.id, created_at: ctx.now() }
  if (!(await insertIdentity(tx, linked))) throw new ChatError('conflict')
  if (floor > 0) await refuseTokens(tx, { user_id: row.id }, floor)
  await noteClaim(tx, identity)
  await ctx.accounts.joinRooms(tx, row, by.ip)
  tx.audit({ act: 'user.created', ...by, subject_id: row.id, detail: { by: 'host', roles: row.roles } })
  return { ...row, tokens_after: floor, is_new: true }
}

/**
 * Up to which instant proofs of this subject are refused, since its former user was erased or merged.
 *
 * @throws ChatError `unauthenticated` for a proof from before
 */
async function requireFloor(db: Queries, identity: HostIdentity): Promise<Micros> {
  const floor = await findTokenFloor(db, identity.subject)
  if (isFromBefore(identity, floor)) throw new ChatError('unauthenticated')
  return floor
}

/** Read again under the lock, so that concurrent changes are not overwritten. */
async function findLocked(tx: Tx, key: IdentityKey): Promise<HostUser | undefined> {
  const row = await findIdentity(tx, key)
  if (!row) return undefined
  await lockUser(tx, row.id)
  return findIdentity(tx, key)
}

/** The user with the host's values. */
async function profileOf(db: Queries, identity: HostIdentity, user: ShownUser, now: Micros): Promise<ShownUser> {
  const input = toProfile(identity)
  const { display_name = user.display_name, avatar_url } = input
  const roles = rolesWith(user, input.roles)
  // The host removes its own photo, and no photo that the user has set.
  const keepsPhoto = avatar_url === undefined || (avatar_url === '' && isOwnPhoto(user.avatar_url))
  const photo = keepsPhoto ? user.avatar_url : avatar_url || null
  const kind = kindWith(user.kind, roles)
  // A guest has neither until it is a person: by an address, its password could be reset.
  const { username, email } = kind === 'guest' ? {} : input
  const profile = { ...shownOf(user), display_name: display_name || null, avatar_url: photo, roles, kind }
  if (username !== undefined && username !== user.username) {
    const holder = await findUserByUsername(db, username)
    if (!holder || holder.id === user.id) profile.username = username
  }
  // The host vouches for the addresses it returns.
  if (email !== undefined && (email !== user.email || user.email_verified_at === null)) {
    const holder = await findUserByEmail(db, email)
    if (!holder || holder.id === user.id) Object.assign(profile, { email, email_verified_at: now })
  }
  return profile
}

function shownOf({
  id,
  email,
  email_verified_at,
  username,
  display_name,
  avatar_url,
  roles,
  kind,
}: ShownUser): ShownUser {
  return { id, email, email_verified_at, username, display_name, avatar_url, roles, kind }
}

function isSame(user: ShownUser, profile: ShownUser): boolean {
  return (['email', 'email_verified_at', 'username', 'display_name', 'avatar_url', 'roles', 'kind'] as const).every(
    (field) => user[field] === profile[field],
  )
}
