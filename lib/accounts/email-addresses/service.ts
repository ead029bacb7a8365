import type { Context } from '../../context.ts'
import { refuseGuests, refuseKeys } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { takeMail } from '../mails/limit.ts'
import { worthless } from '../mails/link-error.ts'
import { findResetting } from '../password-resets/service.ts'
import { findUser, lockUser, type UserRow } from '../users/store.ts'
import { markEmailVerified } from '../users/store-changes.ts'
import { EmailProof, MailedLink } from './schema.ts'
import { findChanging } from './service-change.ts'
import { deleteVerifications, findVerification } from './store.ts'

/** The rate of mails to one address: an account with an address of another person must not fill a mailbox. */
const MAIL_BURST = 5

/**
 * Mails the actor a link that verifies the address of the account; sends nothing to a verified address.
 *
 * @throws ChatError `forbidden` with an API key; `conflict` if the service sends no mail; `rate_limited`;
 *   `unavailable` if the queue of mails is full
 */
export const sendVerification = useCase({
  takes: ['actor'],
  errors: ['conflict'],
  run: async (ctx, actor): Promise<void> => {
    refuseKeys(actor)
    refuseGuests(actor)
    const { outbox } = ctx.mail
    if (!outbox) throw new ChatError('conflict', { message: 'The service sends no mail: ask an administrator.' })
    const { user_id, ip } = actor
    const user = await findUser(ctx.db, user_id)
    if (!user) throw new ChatError('unauthenticated')
    if (user.email_verified_at !== null) return
    const email_key = uniqueKey(user.email)
    const limit = await takeMail(ctx, `verify:${digest(email_key)}`, MAIL_BURST)
    if (!limit.allowed) throw new ChatError('rate_limited', { retry_after_seconds: limit.retry_after_seconds ?? 1 })
    await ctx.write(async (tx) => {
      if (!(await outbox.add(tx, { mail: 'verify_email', user_id }))) throw new ChatError('unavailable')
      tx.audit({ act: 'email.verification_sent', actor_id: user_id, subject_id: user_id, ip })
    })
  },
})

/**
 * Verifies an address with the token of a mailed link. The other links of the user become invalid.
 *
 * @throws ChatError `not_found` for a token that is unknown, expired or used, or for an address the user no longer has
 */
export const verify = useCase({
  takes: ['client'],
  input: EmailProof,
  errors: ['not_found'],
  run: async (ctx, client, { token }): Promise<void> => {
    const tokenHash = digest(token)
    const { id: user_id } = await findVerified(ctx, ctx.db, tokenHash)
    await ctx.write(async (tx) => {
      await lockUser(tx, user_id)
      // Read again under the lock: another call may have used it, or the address may have changed.
      const user = await findVerified(ctx, tx, tokenHash)
      await markEmailVerified(tx, user.id, ctx.now())
      await deleteVerifications(tx, user.id)
      tx.audit({ act: 'email.verified', subject_id: user.id, ip: client.ip, detail: { by: 'mail' } })
    })
  },
})

/** How the account of a link is found, or refused, as by the use-case that uses the link up. */
const FINDERS: Record<MailedLink['link'], (ctx: Context, db: Queries, tokenHash: string) => Promise<unknown>> = {
  reset_password: findResetting,
  verify_email: findVerified,
  change_email: (ctx, db, tokenHash) => findChanging(ctx, db, tokenHash, 'change'),
  undo_email: (ctx, db, tokenHash) => findChanging(ctx, db, tokenHash, 'undo'),
}

/**
 * Checks whether a mailed link still works, for any caller with its token, and uses nothing up. Only failures count against the
 * limit of sign-ins of an address.
 *
 * @throws ChatError `not_found` for a token that is unknown, expired or used; `rate_limited` after many failures
 */
export const checkLink = useCase({
  takes: ['client'],
  input: MailedLink,
  errors: ['not_found'],
  run: async (ctx, client, { link, token }): Promise<void> => {
    try {
      await ctx.db.snapshot((db) => FINDERS[link](ctx, db, digest(token)))
    } catch (error) {
      if (error instanceof ChatError && error.code === 'not_found') await ctx.limiter.signInFailed(client.ip)
      throw error
    }
  },
})

/** The account whose address a token verifies. @throws ChatError `not_found` as {@link verify} */
async function findVerified({ now }: Pick<Context, 'now'>, db: Queries, tokenHash: string): Promise<UserRow> {
  const link = await findVerification(db, tokenHash, now())
  const user = link && (await findUser(db, link.user_id))
  if (!user || user.disabled_at !== null || uniqueKey(user.email) !== link.email_key) throw worthless()
  return user
}
