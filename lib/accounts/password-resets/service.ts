import type { Context } from '../../context.ts'
import { uniqueKey } from '../../core/characters.ts'
import { digest } from '../../core/ids.ts'
import { useCase } from '../../core/use-case.ts'
import { hasWaitingReset } from '../../mail/store.ts'
import type { Queries } from '../../storage/database.ts'
import { takeMail } from '../mails/limit.ts'
import { worthless } from '../mails/link-error.ts'
import { notify } from '../mails/notices.ts'
import { endMeans } from '../means/ending.ts'
import { clearFailures, toAttemptKey, toPasswordKey } from '../passwords/store.ts'
import { rememberDevice } from '../passwords/store-devices.ts'
import { findUser, findUserByEmail, lockUser, type UserRow } from '../users/store.ts'
import { markEmailVerified, updatePasswordHash } from '../users/store-changes.ts'
import { addressDigest } from './mail.ts'
import { ForgottenPassword, PasswordReset } from './schema.ts'
import { findReset, takeReset } from './store.ts'

/** Mails to one address at once: strangers must not fill a mailbox. */
const MAIL_BURST = 5

/**
 * Mails a token that sets a new password, if the account exists and is not disabled. The response and its time are the
 * same for an unknown address: a mail to it is queued as well, and dropped when it is its turn. Above the rate it does
 * nothing, for any address; nor while a mail to the address waits. Earlier tokens stay valid.
 */
export const request = useCase({
  takes: ['client'],
  input: ForgottenPassword,
  run: async (ctx, client, input): Promise<void> => {
    const { log } = ctx
    const { outbox } = ctx.mail
    if (!outbox) {
      log.warn('A password reset was requested, but no mail is configured')
      return
    }
    const address = addressDigest(input.email)
    if (!(await takeMail(ctx, `reset:${address}`, MAIL_BURST)).allowed) return
    const found = await findUserByEmail(ctx.db, input.email)
    const user = found?.disabled_at ? undefined : found
    await ctx.write(async (tx) => {
      tx.audit({ act: 'password.reset_requested', subject_id: user?.id, ip: client.ip })
      const user_id = user?.id ?? ''
      // If several calls run at once, one adds it.
      await lockUser(tx, user_id)
      if (!(await hasWaitingReset(tx, user_id, address)))
        await outbox.add(tx, { mail: 'reset_password', user_id, address })
    })
  },
})

/**
 * Sets a new password with a token. It invalidates all tokens of the user: of several calls at once one succeeds. All
 * sessions and API keys of the user end, with their streams, and so does what a thief may have prepared. It does not sign
 * in, but clears failed sign-ins and makes the browser a known one, so that password guesses of others do not lock the
 * user out of it. If the address was unverified, every means of access ends, keys in any case.
 *
 * @returns the token of the known browser
 * @throws ChatError `not_found` for a token that is unknown, expired or used; `unavailable` when too many passwords
 *   wait to be hashed
 */
export const redeem = useCase({
  takes: ['client'],
  input: PasswordReset,
  errors: ['not_found'],
  run: async (ctx, client, input): Promise<{ device: string }> => {
    const tokenHash = digest(input.token)
    // Before the password is hashed, so that an invalid token costs no hash; and again in the transaction.
    const { id: user_id } = await findResetting(ctx, ctx.db, tokenHash)
    const hash = await ctx.accounts.passwords.hash(input.password, { user: user_id, ip: client.ip, is_known: true })
    const device = await ctx.write(async (tx) => {
      await lockUser(tx, user_id)
      const user = await findResetting(ctx, tx, tokenHash)
      if (!(await takeReset(tx, tokenHash, ctx.now()))) throw worthless()
      await updatePasswordHash(tx, user_id, hash, ctx.now())
      await markEmailVerified(tx, user_id, ctx.now())
      // With an unverified address, another person may have registered it, and prepared other ways in.
      const cause = user.email_verified_at === null ? 'takeover' : 'mailed_reset'
      const { keys, identities } = await endMeans(ctx, tx, { user_id }, cause, {
        email_key: cause === 'takeover' ? undefined : uniqueKey(user.email),
        by: { ip: client.ip },
        keep: cause === 'takeover' || !input.keep_keys ? [] : ['keys', 'grants'],
      })
      await clearFailures(tx, toAttemptKey(user.email, undefined))
      await clearFailures(tx, toPasswordKey(user_id))
      const device = await rememberDevice(tx, user_id, undefined, ctx.now())
      tx.audit({ act: 'password.reset', subject_id: user_id, ip: client.ip, detail: { keys, identities } })
      await notify(ctx, tx, user_id, 'password_changed')
      return device
    })
    return { device }
  },
})

/** The account whose password a token sets. @throws ChatError `not_found` for a token that is unknown, expired or used */
export async function findResetting({ now }: Pick<Context, 'now'>, db: Queries, tokenHash: string): Promise<UserRow> {
  const reset = await findReset(db, tokenHash, now())
  const user = reset && (await findUser(db, reset.user_id))
  if (!user || user.disabled_at !== null || user.kind !== 'person') throw worthless()
  return user
}
