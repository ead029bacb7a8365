import type { Context } from '../../context.ts'
import { type Actor, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, fingerprint, newToken } from '../../core/ids.ts'
import { rightsOf } from '../../core/service-can.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { sessionEnded } from '../audit/rules.ts'
import type { HashCaller } from '../passwords/hash-queue.ts'
import { toAttemptKey } from '../passwords/store.ts'
import { findDevice, rememberDevice } from '../passwords/store-devices.ts'
import type { CountedAttempt } from '../passwords/throttle.ts'
import { photosOf } from '../users/photos.ts'
import type { UserKind } from '../users/rules.ts'
import { findUser, findUserByEmail, lockUser, type ShownUser, toUser, type UserRow } from '../users/store.ts'
import { updatePasswordHash } from '../users/store-changes.ts'
import { findOwnUser } from '../users/store-own.ts'
import { GUEST_PREFIX, lifeOf } from './rules.ts'
import { Credentials, type LoginAnswer, type MeAnswer } from './schema.ts'
import {
  deleteSessionByToken,
  evictSessions,
  findSession,
  insertSession,
  rotateSession,
  type SessionRow,
  type SessionTimes,
  type SessionUse,
  toSession,
} from './store.ts'
import { endSession } from './store-list.ts'
import { rememberRotated } from './store-rotated.ts'

/** The client of a sign-in. */
export interface Client {
  ip?: string | undefined
  user_agent?: string | undefined
  /** The session token the client already has; a new sign-in ends that session. */
  token?: string | undefined
  /** The content of the browser's cookie for started sign-ins through providers. */
  binding?: string | undefined
  /** The token of a known browser. */
  device?: string | undefined
  /** Whether the client has closed the connection. */
  isGone?: (() => boolean) | undefined
}

/** A signed-in session with its token, which the caller puts into a cookie. */
export interface SignedIn extends LoginAnswer {
  token: string
  /** The new token of the known browser. */
  device?: string
}

/** Longer headers are cut before they are stored. */
const MAX_USER_AGENT_LENGTH = 400

/**
 * Signs in with email and password. A wrong email and a wrong password have the same result and take the same time.
 *
 * After several failures an account is paused, whether it exists or not; a known browser of its owner is counted
 * separately.
 *
 * @throws ChatError `invalid_credentials`; `account_disabled`, after the correct password only; `rate_limited`;
 *   `unavailable` when the client has closed the connection; `conflict` for a claimed guest that has too much to be merged
 */
export const login = useCase({
  takes: ['client'],
  input: Credentials,
  errors: ['invalid_credentials', 'account_disabled', 'conflict'],
  run: async (ctx, client, input): Promise<SignedIn> => {
    const user = await findUserByEmail(ctx.db, input.email)
    const device = await findDevice(ctx.db, client.device, user?.id, ctx.now())
    const account = toAttemptKey(input.email, device)
    const hasher: HashCaller = { user: account, ip: client.ip, is_known: device !== undefined }
    const { why, signedIn, pause_seconds } = await ctx.accounts.attempts.run(account, async (attempt) => {
      const { pause_seconds } = attempt
      const matches = await ctx.accounts.passwords.verify(input.password, user?.password_hash, hasher)
      if (!matches || !user) return { why: 'invalid_credentials' as const, pause_seconds }
      if (!user.disabled_at)
        return { signedIn: await openAfterPassword(ctx, client, input, { user, device, hasher, attempt }) }
      await ctx.write(attempt.succeed)
      return { why: 'account_disabled' as const, pause_seconds: 0 }
    })
    if (why) {
      await recordFailure(ctx, client, { subject_id: user?.id, account, why, pause_seconds })
      throw new ChatError(why)
    }
    return signedIn ?? login.run(ctx, client, input)
  },
})

/**
 * Opens the session of a right password, and clears the failures of its account in the same transaction.
 *
 * @returns `undefined` when the password or the user has changed since it was compared: the sign-in starts again
 */
async function openAfterPassword(
  ctx: Context,
  client: Client,
  { password, claim }: Credentials,
  account: { user: UserRow; device: string | undefined; hasher: HashCaller; attempt: CountedAttempt },
): Promise<SignedIn | undefined> {
  const { user, device, hasher, attempt } = account
  // A session whose client has disconnected would stay open for days.
  if (client.isGone?.()) throw new ChatError('unavailable', { retry_after_seconds: 1 })
  const newHash = ctx.accounts.passwords.isOutdated(user.password_hash!)
    ? await ctx.accounts.passwords.hash(password, hasher)
    : undefined
  // Before the session: a guest that cannot be merged keeps its own.
  const guest = claim ? await ctx.accounts.guests.find(ctx, client) : undefined
  if (guest) await ctx.accounts.guests.claim(ctx, user.id, guest)
  return ctx.write(async (tx) => {
    await lockUser(tx, user.id)
    await attempt.succeed(tx)
    // Changed after the comparison: a session with the old password would outlive those that the change has ended.
    const current = await findUser(tx, user.id)
    if (current?.password_hash !== user.password_hash || current?.disabled_at) return undefined
    if (newHash) await updatePasswordHash(tx, user.id, newHash, ctx.now())
    tx.audit({ act: 'login.succeeded', actor_id: user.id, ip: client.ip })
    const signedIn = await openSession(ctx, tx, user, client)
    return { ...signedIn, device: await rememberDevice(tx, user.id, device && client.device, ctx.now()) }
  })
}

/** Audits a failed sign-in, and the failure that pauses the account. */
export async function recordFailure(
  ctx: Context,
  { ip }: Pick<Actor, 'ip'>,
  failure: { subject_id: string | undefined; account: string; why: string; pause_seconds: number },
): Promise<void> {
  const { subject_id, account, why, pause_seconds } = failure
  await ctx.write(async (tx) => {
    tx.audit({ act: 'login.failed', subject_id, ip, detail: { why, account: fingerprint(account) } })
    if (pause_seconds > 0) {
      const detail = { account: fingerprint(account), pause_seconds }
      tx.audit({ act: 'login.throttled', subject_id, ip, detail })
    }
  })
}

/**
 * Signs a user in inside a transaction. The client's previous session ends, and so do the user's oldest ones beyond the
 * limit.
 */
export async function openSession(ctx: Context, tx: Tx, user: ShownUser, client: Client): Promise<SignedIn> {
  const now = ctx.sessionNow()
  const tokens = newTokens(user.kind)
  const by = { actor_id: user.id, ip: client.ip }
  const previous = client.token ? await deleteSessionByToken(tx, digest(client.token)) : undefined
  if (previous) {
    tx.recheckStreams({ user_id: previous.user_id })
    const detail = { sessions: 1, session_id: previous.id }
    const isLive = previous.idle_expires_at >= now && previous.absolute_expires_at >= now
    // A session of the same user continues; one of another user ends.
    if (isLive && previous.user_id !== user.id)
      tx.audit(sessionEnded('signed_in', { ...by, subject_id: previous.user_id, detail }))
  }
  const row = newSession(ctx, user, client, tokens, now)
  await insertSession(tx, row)
  const cap = ctx.config.session.max_sessions_per_user
  const sessions = cap ? await evictSessions(tx, user.id, now, row.id, cap) : 0
  if (sessions > 0) {
    tx.recheckStreams({ user_id: user.id })
    tx.audit(sessionEnded('limit', { ...by, subject_id: user.id, detail: { sessions } }))
  }
  return toSignedIn(ctx, user, row, tokens)
}

/**
 * Gives the session new tokens and a new idle deadline; the old tokens become invalid at once.
 *
 * @param client `token` is the one to replace
 * @throws ChatError `unauthenticated` when another refresh was faster; `forbidden` with an API key; `rate_limited` after 100
 *   refreshes of the session in an hour
 */
export const refresh = useCase({
  takes: ['actor', 'client'],
  run: async (ctx, actor, client): Promise<SignedIn> => {
    refuseKeys(actor)
    return ctx.write(async (tx) => {
      const session = await findSession(tx, actor.session_id ?? '')
      if (!session || !client.token) throw new ChatError('unauthenticated')
      const { kind } = session.user
      const tokens = newTokens(kind)
      const now = ctx.sessionNow()
      const rotated = { ...session.session, ...hashesOf(tokens), ...toSessionUse(ctx, client, { kind, now }) }
      const oldHash = digest(client.token)
      if (!(await rotateSession(tx, rotated, oldHash))) throw new ChatError('unauthenticated')
      await rememberRotated(tx, oldHash, rotated.id, now)
      return toSignedIn(ctx, session.user, rotated, tokens)
    })
  },
})

/** Ends the current session and closes its streams. @throws ChatError `forbidden` with an API key */
export const logout = useCase({
  takes: ['actor'],
  frees: 'whole',
  run: async (ctx, actor): Promise<void> => {
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      await endSession(tx, actor.session_id ?? '')
      tx.audit({ act: 'logout', actor_id: actor.user_id, subject_id: actor.user_id, ip: actor.ip })
      tx.recheckStreams({ user_id: actor.user_id })
    })
  },
})

/** The caller, and the current session, if any. @throws ChatError `unauthenticated` when it has just ended */
export const me = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<MeAnswer> => {
    const can = rightsOf(ctx.access, actor)
    if (actor.session_id === undefined) {
      const user = await findOwnUser(ctx.db, actor.user_id)
      if (!user) throw new ChatError('unauthenticated')
      return { user: toUser(user, photosOf(ctx.config)), receipts: user.receipts === 1, can }
    }
    const session = await findSession(ctx.db, actor.session_id)
    if (!session) throw new ChatError('unauthenticated')
    return {
      user: toUser(session.user, photosOf(ctx.config)),
      session: toSession(session.session),
      receipts: session.user.receipts === 1,
      can,
    }
  },
})

function newTokens(kind: UserKind) {
  return { token: `${kind === 'guest' ? GUEST_PREFIX : ''}${newToken()}`, csrf_token: newToken() }
}

function hashesOf(tokens: { token: string; csrf_token: string }) {
  return { token_hash: digest(tokens.token), csrf_hash: digest(tokens.csrf_token) }
}

/** The use of a session of a user at `now`: time, address, and the new idle deadline. */
export function toSessionUse(
  ctx: Context,
  { ip, user_agent }: Pick<Client, 'ip' | 'user_agent'>,
  { kind, now }: { kind: UserKind; now: Micros },
): SessionUse {
  return {
    last_seen_at: now,
    idle_expires_at: now + lifeOf(ctx.config, kind).idle_seconds * SECOND,
    user_agent: user_agent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    ip: ip ?? null,
  }
}

function newSession(
  ctx: Context,
  { id: user_id, kind }: Pick<ShownUser, 'id' | 'kind'>,
  client: Client,
  tokens: { token: string; csrf_token: string },
  now: Micros,
): SessionRow {
  return {
    id: ctx.id(),
    user_id,
    ...hashesOf(tokens),
    issued_at: now,
    confirmed_at: now,
    ...toSessionUse(ctx, client, { kind, now }),
    absolute_expires_at: now + lifeOf(ctx.config, kind).absolute_seconds * SECOND,
  }
}

function toSignedIn(
  ctx: Context,
  user: ShownUser,
  session: SessionTimes,
  tokens: { token: string; csrf_token: string },
): SignedIn {
  return { user: toUser(user, photosOf(ctx.config)), session: toSession(session), ...tokens }
}
