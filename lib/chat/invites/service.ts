import { byActor } from '../../accounts/audit/rules.ts'
import { forgetJoins } from '../../accounts/mails/store.ts'
import type { SignedIn } from '../../accounts/sessions/service.ts'
import { findUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { assertMay, assertMayGive, assertMayWrite, assertRoles } from '../../core/access.ts'
import { type Actor, assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { fit, fromCursor, toCursor } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { lockForInvites, requireInviteReader } from '../memberships/access.ts'
import { refuseDirect } from '../memberships/rules.ts'
import { type AcceptResult, acceptAs, reviewAcceptance } from './acceptance.ts'
import { createInvite, refuseKeysFor } from './create.ts'
import { reserveMail } from './mail.ts'
import { Acceptance, type Accepted, type CreatedInvite, InviteInput, type Invites, InvitesQuery } from './schema.ts'
import { signUp } from './sign-up.ts'
import {
  countOpenInvites,
  findInvite,
  findInviteByToken,
  type InviteRow,
  listOpenInvites,
  markRevoked,
  toInvite,
} from './store.ts'

/**
 * Creates an invite to a conversation. Its token is returned only here, or mailed; the database has a digest.
 *
 * @throws ChatError `not_found`; `forbidden` below admin, to invite an owner without being one, and with an API key to
 *   invite an owner or admin; `conflict` to mail it without an address, or if the service sends no mail; `rate_limited`
 */
export const create = useCase({
  takes: ['actor', 'conversation_id'],
  input: InviteInput,
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, conversationId, input): Promise<CreatedInvite> => {
    assertRoles(ctx.access.participant, 'role', [input.role])
    await reserveMail(ctx, actor, input)
    return ctx.write(async (tx) => {
      const place = await lockForInvites(ctx, tx, actor, conversationId)
      refuseKeysFor(ctx.access, actor, input.role)
      assertMayGive(ctx.access, { ...place, actor }, 'invite', input.role)
      refuseDirect(place, 'it has no invites')
      return createInvite(ctx, tx, actor, conversationId, input)
    })
  },
})

/**
 * A page of the invites that can still be accepted, latest first.
 *
 * @throws ChatError `not_found`; `forbidden` below admin; `invalid_cursor`
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  input: InvitesQuery,
  errors: ['not_found', 'forbidden', 'invalid_cursor'],
  run: (ctx, actor, conversationId, input): Promise<Invites> => {
    const before = input.after === undefined ? LATEST : fromCursor(input.after)
    return ctx.db.snapshot(async (db) => {
      await assertMayReadInvites(ctx, db, actor, conversationId)
      if (!before) throw new ChatError('invalid_cursor')
      const now = ctx.now()
      const rows = await listOpenInvites(db, conversationId, now, before, input.limit + 1)
      const invites = fit(rows.slice(0, input.limit).map(toInvite))
      const last = invites.length < rows.length ? rows[invites.length - 1] : undefined
      return {
        invites,
        total: await countOpenInvites(db, conversationId, now),
        ...(last && { next_after: toCursor({ at: last.created_at, id: last.id }) }),
      }
    })
  },
})

/**
 * Asks what making invites asks, of those who read and revoke them, but for a frozen conversation.
 *
 * @throws ChatError `not_found`; `forbidden`
 */
async function assertMayReadInvites(ctx: Context, db: Queries, actor: Actor, conversationId: string): Promise<void> {
  const { role, policy = null } = await requireInviteReader(ctx, db, actor, conversationId)
  assertMay(ctx.access, { actor, role, policy }, 'invite')
}

const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/**
 * Accepts an invite: the actor becomes a participant, or without an actor a new user, who is signed in. A participant
 * who accepts uses nothing up.
 *
 * @throws ChatError `not_found`; `invite_revoked`, also when its creator could not give that role now;
 *   `invite_expired`, `invite_used`; `invite_email_mismatch`; `forbidden` for a read-only user; `unauthenticated` with
 *   neither an actor nor an account to create; `signup_disabled`, `email_taken`, `username_taken`, `rate_limited` for a
 *   sign-up; `conflict` for a third participant in a direct conversation
 */
export const accept = useCase({
  takes: ['actor?', 'client'],
  input: Acceptance,
  errors: [
    'unauthenticated',
    'forbidden',
    'not_found',
    'invite_revoked',
    'invite_expired',
    'invite_used',
    'invite_email_mismatch',
    'signup_disabled',
    'email_taken',
    'username_taken',
    'conflict',
  ],
  run: async (ctx, actor, client, input): Promise<Accepted & { signed_in?: SignedIn }> => {
    const outcome: AcceptResult & { signed_in?: SignedIn } = await (actor
      ? acceptFor(ctx, actor, input)
      : signUp(ctx, client, input))
    const { signed_in, joined, conversation_id } = outcome
    if (joined) await ctx.streams.presence.introduce(conversation_id, joined)
    return { conversation_id, ...(signed_in && { signed_in }) }
  },
})

async function acceptFor(ctx: Context, actor: Actor, { token }: Acceptance): Promise<AcceptResult> {
  assertPerson(actor)
  assertMayWrite(ctx.access, actor)
  if (ctx.host.hooks.beforeJoin) await reviewAcceptance(ctx, actor, token)
  return ctx.write(async (tx) => {
    const user = await findUser(tx, actor.user_id)
    if (!user) throw new ChatError('unauthenticated')
    return acceptAs(ctx, tx, user, { token, by: byActor(actor), signsUp: false })
  })
}

/**
 * Revokes an invite, named by its token or by its id, as lists have it; does nothing if it is already revoked.
 *
 * @throws ChatError `not_found` for an actor outside the conversation who did not create it; `forbidden` for a
 *   participant who neither created it nor is owner or admin
 */
export const revoke = useCase({
  takes: ['actor', 'token'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, token): Promise<void> => {
    await ctx.write(async (tx) => {
      const invite = (await findInviteByToken(tx, digest(token))) ?? (await findInvite(tx, token))
      await revokeFound(ctx, tx, actor, invite)
    })
  },
})

/** Revokes an invite by its id instead of its token. @throws ChatError `not_found`, `forbidden` */
export const revokeById = useCase({
  takes: ['actor', 'invite_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, inviteId): Promise<void> => {
    await ctx.write(async (tx) => revokeFound(ctx, tx, actor, await findInvite(tx, inviteId)))
  },
})

async function revokeFound(ctx: Context, tx: Tx, actor: Actor, invite: InviteRow | undefined): Promise<void> {
  if (!invite) throw new ChatError('not_found')
  const isOwn = invite.created_by === actor.user_id
  if (!isOwn) await assertMayReadInvites(ctx, tx, actor, invite.conversation_id)
  if (!(await markRevoked(tx, invite.id, ctx.now()))) return
  await forgetJoins(tx, [invite.id])
  const { id: subject_id, conversation_id, role } = invite
  const detail = { conversation_id, role }
  tx.audit({ act: 'invite.revoked', ...byActor(actor), subject_id, conversation_id, detail })
}
