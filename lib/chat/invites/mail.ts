import { takeMail } from '../../accounts/mails/limit.ts'
import { addressRequest } from '../../accounts/mails/requests.ts'
import { insertRequest } from '../../accounts/mails/store.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Addressed, MailOrder } from '../../mail/queue.ts'
import { closedReason } from './rules.ts'
import { findInvite, findIssuer, type InviteRow } from './store.ts'

/** Mailed invites to one address at once: strangers must not fill a mailbox. */
const BURST_PER_ADDRESS = 5

/** Invites that one user mails at once: a class, a department. After them one in five minutes. */
const BURST_PER_USER = 50

/**
 * Counts an invite that is to be mailed; nothing for one that is not.
 *
 * @throws ChatError `conflict` without an address, and if the service sends no mail; `rate_limited`
 */
export async function reserveMail(
  ctx: Context,
  { user_id }: Actor,
  { mail, email }: { mail?: boolean; email?: string | undefined },
): Promise<void> {
  if (!mail) return
  if (email === undefined) throw new ChatError('conflict', { message: 'An invite is mailed to an e-mail address.' })
  if (!ctx.mail.outbox)
    throw new ChatError('conflict', { message: 'The service sends no mail: deliver the token yourself.' })
  const buckets: [string, number][] = [[`invite:${digest(uniqueKey(email))}`, BURST_PER_ADDRESS]]
  if (user_id !== '') buckets.unshift([`invites:${user_id}`, BURST_PER_USER])
  for (const [bucket, burst] of buckets) {
    const { allowed, retry_after_seconds = 1 } = await takeMail(ctx, bucket, burst)
    if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
  }
}

/** Queues the mail of an invite; its token is made when it is sent. @throws ChatError `unavailable` if the queue is full */
export async function queueMail(
  ctx: Context,
  tx: Tx,
  invite: Pick<InviteRow, 'id' | 'created_by' | 'created_at' | 'expires_at'> & { email: string; email_key: string },
): Promise<void> {
  const { id, email, email_key, created_by, created_at, expires_at } = invite
  const request = { id, kind: 'join' as const, user_id: null, email, email_key, roles: null }
  await insertRequest(tx, { ...request, created_by, created_at, expires_at })
  if (!(await ctx.mail.outbox?.add(tx, { mail: 'conversation_invite', user_id: id, request: id })))
    throw new ChatError('unavailable')
}

/** The address of an invite that can still be accepted. */
export async function addressInvite(
  ctx: Pick<Context, 'access' | 'config' | 'db' | 'now' | 'write'>,
  order: MailOrder,
): Promise<Addressed | undefined> {
  const invite = await findInvite(ctx.db, order.user_id)
  if (!invite || closedReason(ctx.access, invite, await findIssuer(ctx.db, invite, ctx.now()), ctx.now()))
    return undefined
  return addressRequest(ctx, order, 'conversation_invite')
}
