import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { deleteMailsOfKind } from '../../mail/store.ts'
import { type DisabledWebhook, listEnabledWebhooks } from '../../storage/disabled-webhooks.ts'
import { webhookEnded } from '../audit/ended-webhooks.ts'
import { sessionEnded } from '../audit/rules.ts'
import type { AuditAct } from '../audit/schema.ts'
import type { AuditActor, AuditEntry } from '../audit/store.ts'
import { listBotIds } from '../users/store-bots.ts'
import { endWebhooksOfKeys } from './ending-webhooks.ts'
import { CAUSES, type Cause, type Ends, type Means } from './rules.ts'
import { countLiveSessions, deleteMeans, type Ending, type Holder, listNames, refuseTokens } from './store.ts'

/** The mails whose token is made when they are sent, and which no row of the means would keep from making one. */
const MAILS: Partial<Record<Means, 'reset_password' | 'verify_email'>> = {
  reset_links: 'reset_password',
  verification_links: 'verify_email',
}

/** What a cause does not end this time, and the actor that the audit log names. */
interface EndingOptions extends Ending {
  /** Means that stay this time. */
  keep?: readonly Means[]
  /** The actor that causes it. */
  by: AuditActor
}

/**
 * Ends the means of access to an account that a cause ends, inside a transaction that has locked the user; streams that
 * are no longer allowed close. The audit log has which sessions and keys ended, and why. There is no other way to end
 * them by a cause.
 *
 * @returns the number of each that ended
 */
export async function endMeans(
  ctx: Pick<Context, 'accounts' | 'now'>,
  tx: Tx,
  holder: Holder,
  cause: Cause,
  { keep = [], by, ...stays }: EndingOptions,
): Promise<Record<Means, number>> {
  const ended = { ...NONE }
  const live = await findLive(ctx, tx, holder, stays)
  for (const means of Object.keys(CAUSES[cause].ends as Ends) as Means[]) {
    if (keep.includes(means) || isRefused(cause, means)) continue
    if (means === 'tokens') await refuseTokens(tx, holder, ctx.now())
    else if (means !== 'invites') ended[means] = await deleteMeans(tx, means, holder, { ...stays, now: ctx.now() })
    else if ('user_id' in holder) ended.invites = await ctx.accounts.revokeInvites(tx, holder.user_id, by)
    // One that waits would make another link when it is sent.
    const mail = MAILS[means]
    if (mail) await deleteMailsOfKind(tx, mail, holder)
  }
  const user_id = 'all' in holder ? undefined : holder.user_id
  const { reason } = CAUSES[cause]
  if (ended.sessions > 0 && live.sessions > 0)
    tx.audit(sessionEnded(reason, { ...by, subject_id: user_id, detail: { sessions: live.sessions } }))
  if (ended.keys + ended.bot_keys > 0) await endWebhooksOfKeys(tx, ctx.now(), { by })
  const ofUser = { reason, ...(user_id && { user_id }) }
  if (ended.bot_keys > 0)
    auditEach(tx, KEYS, { ...by, detail: { reason, owner_id: user_id! } }, live.bot_keys, ended.bot_keys)
  if (ended.keys > 0) auditEach(tx, KEYS, { ...by, detail: ofUser }, live.keys, ended.keys)
  if (ended.grants > 0) auditEach(tx, GRANTS, { ...by, detail: ofUser }, live.grants, ended.grants)
  if (ended.webhooks > 0) auditWebhooks(tx, { reason, by }, live.webhooks, ended.webhooks)
  tx.recheckStreams({ user_id })
  if (user_id !== undefined) for (const id of await listBotIds(tx, user_id)) tx.recheckStreams({ user_id: id })
  return ended
}

/** What the audit log shows of what may end: expired sessions have ended before. */
async function findLive({ now }: Pick<Context, 'now'>, tx: Tx, holder: Holder, { session }: Ending) {
  return {
    sessions: await countLiveSessions(tx, holder, { now: now(), except: session }),
    keys: 'all' in holder ? [] : await listNames(tx, 'keys', holder.user_id),
    bot_keys: 'all' in holder ? [] : await listNames(tx, 'bot_keys', holder.user_id),
    grants: 'all' in holder ? [] : await listNames(tx, 'grants', holder.user_id),
    webhooks: 'all' in holder ? [] : await listEnabledWebhooks(tx, holder.user_id),
  }
}

/** How the log has what ended: the act, the name of their number, and that of their names. */
interface Ended {
  act: AuditAct
  count: string
  name: string
}

const KEYS: Ended = { act: 'key.revoked', count: 'keys', name: 'key' }
const GRANTS: Ended = { act: 'grant.revoked', count: 'grants', name: 'client' }

/** An entry for each of a user; one for those of all users, of which there may be too many. */
function auditEach(
  tx: Tx,
  { act, ...as }: Ended,
  { detail, ...by }: Omit<AuditEntry, 'act'>,
  ended: { id: string; name: string }[],
  count: number,
): void {
  if (ended.length === 0) tx.audit({ act, ...by, detail: { ...detail, [as.count]: count } })
  for (const { id, name } of ended) tx.audit({ act, ...by, subject_id: id, detail, names: { [as.name]: name } })
}

function auditWebhooks(
  tx: Tx,
  { reason, by }: { reason: string; by: AuditActor },
  ended: DisabledWebhook[],
  count: number,
): void {
  if (ended.length === 0)
    tx.audit({ act: 'webhook.changed', ...by, detail: { changed: ['status'], reason, webhooks: count } })
  for (const webhook of ended) tx.audit({ ...webhookEnded(reason, webhook), ...by })
}

/** What is refused while its user is disabled. */
const REFUSED: readonly Means[] = ['keys', 'bot_keys', 'grants', 'webhooks']

/** What a disabled user has made, and the user's bots, stays, and works again when the user is enabled. */
function isRefused(cause: Cause, means: Means): boolean {
  return cause === 'disabled' && REFUSED.includes(means)
}

const NONE: Record<Means, number> = {
  sessions: 0,
  keys: 0,
  bot_keys: 0,
  grants: 0,
  identities: 0,
  link_attempts: 0,
  reset_links: 0,
  verification_links: 0,
  address_changes: 0,
  undo_links: 0,
  known_browsers: 0,
  invites: 0,
  tokens: 0,
  hooks: 0,
  webhooks: 0,
}
