import { refuseGuests, refuseKeys } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { useCase } from '../../core/use-case.ts'
import { takeMail } from '../mails/limit.ts'
import { worthless } from '../mails/link-error.ts'
import { findUser, lockUser } from '../users/store.ts'
import { markEmailVerified } from '../users/store-changes.ts'
import { EmailProof } from './schema.ts'
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
    const token_hash = digest(token)
    const verification = await findVerification(ctx.db, token_hash, ctx.now())
    if (!verification) throw worthless()
    await ctx.write(async (tx) => {
      await lockUser(tx, verification.user_id)
      // Read again under the lock: another call may have used it, or the address may have changed.
      const valid = await findVerification(tx, token_hash, ctx.now())
      const user = await findUser(tx, verification.user_id)
      if (!valid || !user || user.disabled_at !== null || uniqueKey(user.email) !== valid.email_key) throw worthless()
      await markEmailVerified(tx, user.id, ctx.now())
      await deleteVerifications(tx, user.id)
      tx.audit({ act: 'email.verified', subject_id: user.id, ip: client.ip, detail: { by: 'mail' } })
    })
  },
})
