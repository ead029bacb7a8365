import { toLink } from '../../config/links.ts'
import type { Context } from '../../context.ts'
import { uniqueKey } from '../../core/characters.ts'
import { digest, newToken } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Addressed, AddressOptions, MailOrder } from '../../mail/queue.ts'
import { hasMail } from '../../mail/store.ts'
import { findUser, lockUser } from '../users/store.ts'
import { insertVerification } from './store.ts'

/** The lifetime of a link: long enough for a mailbox that is read once a day. */
const LIFETIME_SECONDS = 24 * 60 * 60

/** Links of one user that are valid at the same time: several mails may be on their way. */
const MAX_PENDING = 5

/** The user whose address is to be verified, unless it was verified since the request. The mail names the account. */
export async function addressVerification(
  ctx: Pick<Context, 'config' | 'db' | 'now' | 'write'>,
  { user_id }: MailOrder,
  { mail_id }: Pick<AddressOptions, 'mail_id'>,
): Promise<Addressed | undefined> {
  const user = await findUser(ctx.db, user_id)
  if (!user || user.email_verified_at !== null) return undefined
  return {
    to: user.email,
    username: user.username,
    async makeToken() {
      const token = newToken()
      const expires_at = ctx.now() + LIFETIME_SECONDS * SECOND
      const row = { token_hash: digest(token), user_id, email_key: uniqueKey(user.email), expires_at }
      return ctx.write(async (tx) => {
        await lockUser(tx, user_id)
        // The user may have been erased since, or something has ended the links, and deleted the mail.
        if (!(await findUser(tx, user_id)) || !(await hasMail(tx, user_id, mail_id))) return undefined
        await insertVerification(tx, row, MAX_PENDING)
        return token
      })
    },
    linkOf: (token) => toLink(ctx.config, 'verify_email', token),
  }
}
