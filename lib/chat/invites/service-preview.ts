import { hasSignIn } from '../../accounts/authentication/rules.ts'
import { findOpenInvite } from '../../accounts/sign-ups/service.ts'
import { photosOf } from '../../accounts/users/photos.ts'
import { listVisible, toPerson } from '../../accounts/users/store-people.ts'
import type { Context } from '../../context.ts'
import { ChatError, type ErrorCode } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { findConversation } from '../memberships/store-conversations.ts'
import { assertAcceptable, canSignUp } from './acceptance.ts'
import { type InvitePreview, InviteToken } from './schema.ts'
import { findInviteByToken, findIssuer } from './store.ts'

/** What a token may be answered with that is of no use. */
const REFUSALS: readonly ErrorCode[] = ['not_found', 'invite_revoked', 'invite_expired', 'invite_used']

/**
 * What an invite is for, to a conversation or to the service, for any caller with its token. Only failures count against the
 * limit of sign-ins of an address.
 *
 * @throws ChatError `not_found`; `invite_revoked`, `invite_expired`, `invite_used`; `rate_limited` after many failures
 */
export const preview = useCase({
  takes: ['client'],
  input: InviteToken,
  errors: REFUSALS,
  run: async (ctx, client, { token }): Promise<InvitePreview> => {
    try {
      return await ctx.db.snapshot((db) => read(ctx, db, token))
    } catch (error) {
      if (error instanceof ChatError && REFUSALS.includes(error.code)) await ctx.limiter.signInFailed(client.ip)
      throw error
    }
  },
})

async function read(ctx: Context, db: Queries, token: string): Promise<InvitePreview> {
  const found = await findInviteByToken(db, digest(token))
  if (!found) return readNewcomer(ctx, db, token)
  const issuer = await findIssuer(db, found, ctx.now())
  const invite = assertAcceptable(ctx, found, issuer, ctx.now())
  const { title, participant_count } = (await findConversation(db, invite.conversation_id))!
  return {
    kind: 'conversation',
    ...(title && { title }),
    participant_count,
    ...(await readMaker(ctx, db, invite)),
    can_sign_up: hasSignIn(ctx) && canSignUp(ctx, invite, issuer),
  }
}

async function readNewcomer(ctx: Context, db: Queries, token: string): Promise<InvitePreview> {
  const invite = await findOpenInvite(ctx, db, token)
  const can_sign_up = hasSignIn(ctx) && ctx.config.invites.allow_signup
  return { kind: 'service', ...(await readMaker(ctx, db, invite)), can_sign_up }
}

/** What invites of both kinds have. */
async function readMaker(
  ctx: Context,
  db: Queries,
  { created_by, email, expires_at }: { created_by: string | null; email: string | null; expires_at: number },
) {
  const ids = created_by === null ? [] : [created_by]
  const [maker] = ids.length > 0 ? await listVisible(db, { user_id: '', seesAll: true }, ids) : []
  return {
    ...(maker && { invited_by: toPerson(maker, photosOf(ctx.config)) }),
    ...(email !== null && { email }),
    expires_at: toInstant(expires_at),
  }
}
