import { toLink } from '../../config/links.ts'
import type { Context, InviteToRooms } from '../../context.ts'
import { assertRoles, mayWrite } from '../../core/access.ts'
import { assertAdmin, joinRoles, refuseKeys, splitRoles } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { deleteMailsToUsers } from '../../mail/store.ts'
import type { Queries } from '../../storage/database.ts'
import { byActor } from '../audit/rules.ts'
import { hasSignIn } from '../authentication/rules.ts'
import { worthless } from '../mails/link-error.ts'
import {
  countNewcomers,
  deleteInvitesTo,
  deleteRequest,
  type EmailRequestRow,
  findRequestByToken,
  insertRequest,
  insertRequestToken,
  listNewcomers,
} from '../mails/store.ts'
import { openSession, type SignedIn } from '../sessions/service.ts'
import { administers, assertNoGuest, assertStillAdmin } from '../users/rules.ts'
import { addNamedUser } from '../users/service.ts'
import { findUser, findUserByEmail, lockUsers } from '../users/store.ts'
import {
  type InvitedNewcomer,
  type Newcomer,
  NewcomerInput,
  type NewcomerPage,
  NewcomersQuery,
  SignUp,
  type SignUpAnswer,
} from './schema.ts'

/** The maximum number of open invites. */
const MAX_OPEN = 10_000

/**
 * Invites a newcomer to sign up with the mailed link: without a conversation, for one address, once. An earlier
 * invite to the address ends.
 *
 * @throws ChatError `forbidden`, also with an API key, or for a conversation where the actor is neither owner nor admin;
 *   `signup_disabled` with `invites.allow_signup = false`;
 *   `email_taken`; `conflict` if it is to be mailed and the service sends no mail, or with too many open invites
 */
export const invite = useCase({
  takes: ['actor'],
  input: NewcomerInput,
  errors: ['signup_disabled', 'email_taken', 'conflict'],
  run: async (ctx, actor, input): Promise<InvitedNewcomer> => {
    assertAdmin(actor)
    refuseKeys(actor)
    assertRoles(ctx.access.service, 'roles', input.roles)
    assertNoGuest('person', input.roles)
    const { outbox } = ctx.mail
    if (!hasSignIn(ctx) || !ctx.config.invites.allow_signup) throw new ChatError('signup_disabled')
    if (input.mail && !outbox)
      throw new ChatError('conflict', { message: 'The service sends no mail: ask for the link instead.' })
    const token = input.mail ? undefined : newToken()
    const row = newRequest(ctx, actor.user_id, input)
    await ctx.write(async (tx) => {
      assertStillAdmin(await lockUsers(tx, [actor.user_id], { admins: false }), actor)
      await ctx.accounts.rooms.assertMayInvite(tx, actor, input.conversation_ids)
      if (await findUserByEmail(tx, row.email)) throw new ChatError('email_taken')
      await deleteInvitesTo(tx, row.email_key)
      if ((await countNewcomers(tx, ctx.now())) >= MAX_OPEN)
        throw new ChatError('conflict', { message: `At most ${MAX_OPEN} invites are open: revoke some first.` })
      await insertRequest(tx, row)
      if (token !== undefined) await insertRequestToken(tx, row.id, digest(token))
      else if (!(await outbox!.add(tx, { mail: 'invite', user_id: row.id, request: row.id })))
        throw new ChatError('unavailable')
      tx.audit({ act: 'newcomer.invited', ...byActor(actor), subject_id: row.id, detail: { roles: input.roles } })
    })
    const url = token && toLink(ctx.config, 'invite', token)
    return { ...toNewcomer(row), mailed: input.mail, ...(token && { token }), ...(url && { url }) }
  },
})

/** A page of the open invites of newcomers, oldest first. @throws ChatError `forbidden` */
export const list = useCase({
  takes: ['actor'],
  input: NewcomersQuery,
  run: async (ctx, actor, { after, limit }): Promise<NewcomerPage> => {
    assertAdmin(actor)
    const rows = await listNewcomers(ctx.db, ctx.now(), after ?? '', limit + 1)
    const invites = rows.slice(0, limit).map(toNewcomer)
    return { invites, ...(rows.length > limit && { next_after: invites.at(-1)!.id }) }
  },
})

/** Revokes the invite of a newcomer. @throws ChatError `forbidden`, also with an API key; `not_found` */
export const revoke = useCase({
  takes: ['actor', 'invite_id'],
  errors: ['not_found'],
  frees: 'half',
  run: async (ctx, actor, inviteId): Promise<void> => {
    assertAdmin(actor)
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      if (!(await deleteRequest(tx, inviteId, 'invite'))) throw new ChatError('not_found')
      await deleteMailsToUsers(tx, inviteId)
      tx.audit({ act: 'newcomer.revoked', ...byActor(actor), subject_id: inviteId })
    })
  },
})

/**
 * Signs a newcomer up with the token of an invite, and in. The address is verified, since the link was mailed to it.
 *
 * @throws ChatError `not_found` for a token that is unknown, expired, used or revoked, or whose maker administers no
 *   more; `signup_disabled`; `email_taken`, `username_taken`; `forbidden` if the host refuses a conversation of the invite;
 *   `unavailable` when too many passwords wait to be hashed
 */
export const signUp = useCase({
  takes: ['client'],
  input: SignUp,
  errors: ['not_found', 'forbidden', 'signup_disabled', 'email_taken', 'username_taken'],
  run: async (ctx, client, { token, username, password, display_name, claim }): Promise<SignedIn & SignUpAnswer> => {
    // Before the password is hashed, so that an invalid token costs no hash; and again in the transaction.
    const { rooms } = ctx.accounts
    const invited = await openInvite(ctx, ctx.db, token)
    await rooms.review(ctx, { ...roomsOf(ctx, invited), email: invited.email })
    const password_hash = await ctx.accounts.passwords.hash(password, { ip: client.ip })
    const guest = claim ? await ctx.accounts.guests.find(ctx, client) : undefined
    const { joined, ...answer } = await ctx.write(async (tx) => {
      const request = await openInvite(ctx, tx, token)
      const { id, email, roles } = request
      if (!(await deleteRequest(tx, id, 'invite'))) throw worthless()
      const newcomer = { username, email, email_verified: true, password_hash, roles: splitRoles(roles!) }
      const user = await addNamedUser(ctx, tx, { ...newcomer, ...(display_name && { display_name }) })
      tx.audit({ act: 'newcomer.signed_up', actor_id: user.id, subject_id: user.id, ip: client.ip })
      const joined = await rooms.join(tx, user, { ...roomsOf(ctx, request), ip: client.ip })
      await ctx.accounts.joinRooms(tx, user, client.ip)
      const [conversation_id] = joined
      const signedIn = await openSession(ctx, tx, user, client)
      return { ...signedIn, joined, ...(conversation_id && { conversation_id }) }
    })
    for (const id of joined) await ctx.streams.presence.introduce(id, answer.user.id)
    await ctx.accounts.guests.claimAfter(ctx, answer.user.id, guest)
    return answer
  },
})

async function openInvite(ctx: Context, db: Queries, token: string): Promise<EmailRequestRow> {
  if (!ctx.config.invites.allow_signup) throw new ChatError('signup_disabled')
  return findOpenInvite(ctx, db, token)
}

/** The invite of a newcomer that can be used. @throws ChatError `not_found` */
export async function findOpenInvite(ctx: Pick<Context, 'now'>, db: Queries, token: string): Promise<EmailRequestRow> {
  const request = await findRequestByToken(db, digest(token), 'invite', ctx.now())
  if (!request) throw worthless()
  // An invite lives by the rights of its maker; the operator's has none.
  if (request.created_by === null) return request
  const maker = await findUser(db, request.created_by)
  if (!maker || !administers(maker)) throw worthless()
  return request
}

function newRequest(
  ctx: Context,
  actorId: string,
  { email, roles, ttl_seconds, conversation_ids }: NewcomerInput,
): EmailRequestRow {
  const now = ctx.now()
  return {
    id: ctx.id(),
    kind: 'invite',
    user_id: null,
    email: email.trim(),
    email_key: uniqueKey(email),
    roles: joinRoles(roles),
    conversation_ids: [...new Set(conversation_ids)].join(',') || null,
    created_by: actorId || null,
    created_at: now,
    expires_at: now + ttl_seconds * SECOND,
  }
}

/** What a newcomer joins, and as what: a read-only user writes nowhere. */
function roomsOf(
  { access }: Pick<Context, 'access'>,
  { conversation_ids, roles, created_by }: EmailRequestRow,
): InviteToRooms {
  const role = mayWrite(access, splitRoles(roles!)) ? 'member' : 'viewer'
  return { ids: idsOf(conversation_ids), role, maker_id: created_by }
}

const idsOf = (list: string | null): string[] => list?.split(',') ?? []

function toNewcomer(row: EmailRequestRow): Newcomer {
  const { id, email, roles, created_by, created_at, expires_at } = row
  return {
    id,
    email,
    roles: splitRoles(roles!),
    ...(row.conversation_ids && { conversation_ids: idsOf(row.conversation_ids) }),
    ...(created_by && { created_by }),
    created_at: toInstant(created_at),
    expires_at: toInstant(expires_at),
  }
}
