import type { Context } from '../../context.ts'
import { sendLater, takeMail } from '../mails/send.ts'
import { findUser, type UserRow } from '../users/store.ts'

/** The text of each notice. */
const NOTICES = {
  'key.created': ['A new API key for your account', 'An API key was made, which acts as you without a password'],
  'identity.linked': ['A new way to sign in to your account', 'A sign-in provider was linked to your account'],
  'email.changed': ['The e-mail address of your account was changed', 'Your account has another e-mail address now'],
  'password.changed': ['The password of your account was changed', 'The password of your account was changed'],
} as const

export type Notice = keyof typeof NOTICES

/** Notices to one user at once: a loop of changes must not fill a mailbox. */
const MAILS_AT_ONCE = 10

/**
 * Mails the owner of an account a notice of a change, if mail is configured and the address is verified. It is called
 * after the commit and not awaited; a failure is logged without the mail.
 *
 * @param former the account before the change; its address gets the mail
 */
export function notify(ctx: Context, userId: string, notice: Notice, former?: UserRow): void {
  sendLater(ctx, {
    user_id: userId,
    message: 'A notice to the owner of an account could not be sent',
    reason: notice,
    async compose() {
      if (!(await takeMail(ctx, `notice:${userId}`, MAILS_AT_ONCE)).allowed) return undefined
      const user = former ?? (await findUser(ctx.db, userId))
      return user && user.email_verified_at !== null ? noticeMail(user, notice) : undefined
    },
  })
}

/** It contains no secret, and no text of the caller but the username. */
function noticeMail({ email, username }: { email: string; username: string }, notice: Notice) {
  const [subject, what] = NOTICES[notice]
  const text = `${what} (${username}).\n\nIf it was not you, set a new password, look through your sessions, API keys and sign-in providers, and tell an administrator.\n`
  return { to: email, subject, text, token: '' }
}
