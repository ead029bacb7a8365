import type { Context } from '../../context.ts'
import { takeShared } from '../../limits/buckets.ts'
import { findUser, type UserRow } from '../users/store.ts'

/** What each notice tells the owner of an account. */
const NOTICES = {
  'key.created': ['A new API key for your account', 'An API key was made, which acts as you without a password'],
  'identity.linked': ['A new way to sign in to your account', 'A sign-in provider was linked to your account'],
  'email.changed': ['The e-mail address of your account was changed', 'Your account has another e-mail address now'],
  'password.changed': ['The password of your account was changed', 'The password of your account was changed'],
} as const

export type Notice = keyof typeof NOTICES

/** How often one user is mailed to, whatever happens to the account: a mailbox is not filled by a loop of changes. */
const MAILS = { requests_per_second: 1 / 300, burst: 10 }

/**
 * Mails the owner of an account what has just been changed of it, where there is mail and the address is proven. It is
 * called after the commit, is not waited for, and a failure is logged without the mail.
 *
 * @param former the account before the change, whose address is mailed to
 */
export function notify(ctx: Context, userId: string, notice: Notice, former?: UserRow): void {
  const { mail, log } = ctx
  if (!mail) return
  setImmediate(async () => {
    try {
      if (!(await takeShared(ctx.db, `notice:${userId}`, ctx.now(), MAILS)).allowed) return
      const user = former ?? (await findUser(ctx.db, userId))
      if (user && user.email_verified_at !== null) await mail(noticeMail(user, notice))
    } catch {
      // Without its cause: libraries put what they could not send into their errors.
      log.error('A notice to the owner of an account could not be sent', { user_id: userId, reason: notice })
    }
  })
}

/** No secret is in it, and nothing that a caller has written but the username. */
function noticeMail({ email, username }: { email: string; username: string }, notice: Notice) {
  const [subject, what] = NOTICES[notice]
  const text = `${what} (${username}).\n\nIf it was not you, set a new password, look through your sessions, API keys and sign-in providers, and tell an administrator.\n`
  return { to: email, subject, text, token: '' }
}
