import { toLink } from '../../config/links.ts'
import type { Context } from '../../context.ts'
import { uniqueKey } from '../../core/characters.ts'
import { digest, newToken } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Addressed, AddressOptions, MailOrder } from '../../mail/queue.ts'
import { hasMail } from '../../mail/store.ts'
import { findUser, lockUser } from '../users/store.ts'
import { deleteOldestResets, insertReset } from './store.ts'

/** The lifetime of a token: long enough for slow mail, short enough for a mailbox that others may read later. */
const LIFETIME_SECONDS = 60 * 60

/**
 * The maximum number of valid links per user. More than are mailed in an hour: no mail invalidates a link.
 */
const MAX_PENDING = 32

/** The user with a forgotten password, unless the address was changed or the account disabled since the request. */
export async function addressReset(
  ctx: Pick<Context, 'config' | 'db' | 'now' | 'write'>,
  { user_id, address }: MailOrder,
  { mail_id }: Pick<AddressOptions, 'mail_id'>,
): Promise<Addressed | undefined> {
  const user = await findUser(ctx.db, user_id)
  if (!user || user.disabled_at !== null || addressDigest(user.email) !== address) return undefined
  return {
    to: user.email,
    username: user.username,
    async makeToken() {
      const token = newToken()
      return ctx.write(async (tx) => {
        await lockUser(tx, user_id)
        // What ends reset links has deleted it since: it must not make another one.
        if (!(await hasMail(tx, user_id, mail_id))) return undefined
        const kept = await keepReset(ctx, tx, { user_id, email: user.email, token })
        return kept === undefined ? undefined : token
      })
    },
    linkOf: (token) => toLink(ctx.config, 'reset_password', token),
  }
}

/** Stands for an address in the queue. */
export function addressDigest(email: string): string {
  return digest(uniqueKey(email))
}

/**
 * Adds a token to earlier ones, unless the address was changed or the account was disabled since.
 *
 * @returns when it expires; `undefined` when it was not added
 */
export async function keepReset(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  { user_id, email, token }: { user_id: string; email: string; token: string },
): Promise<number | undefined> {
  const expires_at = ctx.now() + LIFETIME_SECONDS * SECOND
  await lockUser(tx, user_id)
  const kept = await insertReset(tx, { token_hash: digest(token), user_id, email_key: uniqueKey(email), expires_at })
  await deleteOldestResets(tx, user_id, MAX_PENDING)
  return kept ? expires_at : undefined
}
