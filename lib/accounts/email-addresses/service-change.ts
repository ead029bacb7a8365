import type { Context } from '../../context.ts'
import { refuseGuests, refuseKeys } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { takeMail } from '../mails/limit.ts'
import { worthless } from '../mails/link-error.ts'
import { notify } from '../mails/notices.ts'
import {
  deleteEmailChanges,
  deleteRequest,
  type EmailRequestRow,
  findRequestByToken,
  hasRequest,
  insertRequest,
  type NewRequest,
} from '../mails/store.ts'
import { endMeans } from '../means/ending.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import { findUser, findUserByEmail, lockUser, type UserRow } from '../users/store.ts'
import { updateUser } from '../users/store-naming.ts'
import { EmailChange, EmailProof } from './schema.ts'

/** How long the new address may confirm, and then how long the former one may undo the change. */
const CONFIRM_SECONDS = 24 * 60 * 60
const UNDO_SECONDS = 72 * 60 * 60

/** Mails to one new address at once: strangers must not fill a mailbox. */
const MAIL_BURST = 5

/**
 * Mails a link to a new address of the actor, which confirms it. Until then the address stays. The response is the same
 * for an address that another account has, which gets no mail. An earlier request ends.
 *
 * @throws ChatError `forbidden` with an API key; `confirmation_required`; `conflict` if the service sends no mail;
 *   `rate_limited`; `unavailable` if the queue of mails is full
 */
export const requestChange = useCase({
  takes: ['actor'],
  input: EmailChange,
  errors: ['conflict', 'confirmation_required'],
  run: async (ctx, actor, { email }): Promise<void> => {
    refuseKeys(actor)
    refuseGuests(actor)
    const { outbox } = ctx.mail
    if (!outbox) throw new ChatError('conflict', { message: 'The service sends no mail: ask an administrator.' })
    const { user_id, ip } = actor
    for (const bucket of [`change:${user_id}`, `change:${digest(uniqueKey(email))}`]) {
      const { allowed, retry_after_seconds = 1 } = await takeMail(ctx, bucket, MAIL_BURST)
      if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
    }
    await ctx.write(async (tx) => {
      await lockUser(tx, user_id)
      await requireConfirmation(ctx, tx, actor)
      if (!(await findUser(tx, user_id))) throw new ChatError('unauthenticated')
      await deleteEmailChanges(tx, user_id)
      const request = newRequest(ctx, { kind: 'change', user_id, email: email.trim(), seconds: CONFIRM_SECONDS })
      await insertRequest(tx, request)
      if (!(await outbox.add(tx, { mail: 'change_email', user_id, request: request.id })))
        throw new ChatError('unavailable')
      tx.audit({ act: 'email.change_requested', actor_id: user_id, subject_id: user_id, ip })
    })
  },
})

/**
 * Changes the address of an account with the token of the link that was mailed to the new one. Links mailed to the
 * former address become invalid. If it was verified, it gets a mail: with a link that undoes the change for 72 hours, or
 * without one if it is itself the result of a change that can still be undone.
 *
 * @throws ChatError `not_found` for a token that is unknown, expired or used, or if another account has the address
 */
export const confirmChange = useCase({
  takes: ['client'],
  input: EmailProof,
  errors: ['not_found'],
  run: (ctx, client, { token }): Promise<void> =>
    ctx.write(async (tx) => {
      const { user, request } = await takeRequest(ctx, tx, token, 'change')
      await moveTo(ctx, tx, user, request.email)
      await endMeans(ctx, tx, { user_id: user.id }, 'new_address', { by: { ip: client.ip } })
      await tellFormer(ctx, tx, user)
      tx.audit({ act: 'email.changed', subject_id: user.id, ip: client.ip })
    }),
})

/**
 * Gives an account its former address back, with the token of the link that was mailed there. All sessions and API keys
 * of the user end, and so do requests to change the address, and links to set a password: another person may have got into
 * the account. The address that loses the account gets a mail.
 *
 * @throws ChatError `not_found` as {@link confirmChange}
 */
export const undoChange = useCase({
  takes: ['client'],
  input: EmailProof,
  errors: ['not_found'],
  run: (ctx, client, { token }): Promise<void> =>
    ctx.write(async (tx) => {
      const { user, request } = await takeRequest(ctx, tx, token, 'undo')
      await moveTo(ctx, tx, user, request.email)
      await endMeans(ctx, tx, { user_id: user.id }, 'undone_address', { by: { ip: client.ip } })
      await notify(ctx, tx, user.id, 'email_changed', { former: user })
      tx.audit({ act: 'email.change_undone', subject_id: user.id, ip: client.ip })
    }),
})

/** Uses a request up: of several callers one gets it. */
async function takeRequest(ctx: Context, tx: Tx, token: string, kind: 'change' | 'undo') {
  const tokenHash = digest(token)
  const { user: before } = await findChanging(ctx, tx, tokenHash, kind)
  await lockUser(tx, before.id)
  // Read again under the lock: the address may have changed.
  const { user, request } = await findChanging(ctx, tx, tokenHash, kind)
  if (!(await deleteRequest(tx, request.id, kind))) throw worthless()
  return { user, request }
}

/** The account whose address a token changes, or gives back, and what was requested. @throws ChatError `not_found` as {@link confirmChange} */
export async function findChanging(
  { now }: Pick<Context, 'now'>,
  db: Queries,
  tokenHash: string,
  kind: 'change' | 'undo',
): Promise<{ user: UserRow; request: EmailRequestRow }> {
  const request = await findRequestByToken(db, tokenHash, kind, now())
  const user = request && (await findUser(db, request.user_id!))
  if (!user || user.disabled_at !== null) throw worthless()
  const holder = await findUserByEmail(db, request.email)
  if (holder && holder.id !== user.id) throw worthless()
  return { user, request }
}

/** Sets a proven address. */
async function moveTo(ctx: Context, tx: Tx, user: UserRow, email: string): Promise<void> {
  await updateUser(tx, { ...user, email, email_verified_at: ctx.now() }, ctx.now())
}

/**
 * After several changes, only the first address gets a link: its owner gets the account back from any later one, and a
 * thief gets no way back by changing the address twice.
 */
async function tellFormer(ctx: Context, tx: Tx, user: UserRow): Promise<void> {
  const { id: user_id, email } = user
  if (await hasRequest(tx, user_id, 'undo', ctx.now()))
    return notify(ctx, tx, user_id, 'email_changed', { former: user })
  if (user.email_verified_at === null) return
  const request = newRequest(ctx, { kind: 'undo', user_id, email, seconds: UNDO_SECONDS })
  await insertRequest(tx, request)
  await ctx.mail.outbox?.add(tx, { mail: 'undo_email', user_id, request: request.id })
}

function newRequest(
  ctx: Context,
  { kind, user_id, email, seconds }: { kind: 'change' | 'undo'; user_id: string; email: string; seconds: number },
): NewRequest {
  const now = ctx.now()
  const email_key = uniqueKey(email)
  const expires_at = now + seconds * SECOND
  return { id: ctx.id(), kind, user_id, email, email_key, roles: null, created_by: null, created_at: now, expires_at }
}
