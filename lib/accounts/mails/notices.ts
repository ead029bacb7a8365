import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Addressed, MailOrder } from '../../mail/queue.ts'
import { findUser, type UserRow } from '../users/store.ts'
import { takeMail } from './limit.ts'

/** A change that the owner of an account hears of. */
export type Notice =
  | 'key_created'
  | 'grant_created'
  | 'grant_replayed'
  | 'identity_linked'
  | 'email_changed'
  | 'password_changed'

/** Notices to one user at once: a loop of changes must not fill a mailbox. */
const MAIL_BURST = 10

/**
 * Mails the owner of an account a notice of a change, if mail is configured and the address is verified. It is queued
 * with the transaction of the change.
 *
 * @param about.former the account before the change; its address gets the mail
 * @param about.host that of the application, for a mail about one
 */
export async function notify(
  ctx: Pick<Context, 'mail'>,
  tx: Tx,
  userId: string,
  notice: Notice,
  { former, host }: { former?: UserRow; host?: string } = {},
): Promise<void> {
  if (former && former.email_verified_at === null) return
  await ctx.mail.outbox?.add(tx, {
    mail: notice,
    user_id: userId,
    ...(former && { to: former.email }),
    ...(host !== undefined && { host }),
  })
}

/** The recipient of a notice: the owner of the account, with a limited number of notices. */
export async function addressNotice(
  ctx: Pick<Context, 'db' | 'now'>,
  { user_id, to, host }: MailOrder,
  { first }: { first: boolean },
): Promise<Addressed | undefined> {
  const user = await findUser(ctx.db, user_id)
  if (!user || (to === undefined && user.email_verified_at === null)) return undefined
  if (first && !(await takeMail(ctx, `notice:${user_id}`, MAIL_BURST)).allowed) return undefined
  return {
    to: to ?? user.email,
    username: user.username,
    ...(host !== undefined && { values: { link: '', host } }),
  }
}
