import { byActor } from '../../accounts/audit/rules.ts'
import type { Context } from '../../context.ts'
import { type Access, hasRight } from '../../core/access.ts'
import { type Actor, refuseKeys } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { queueMail } from './mail.ts'
import type { CreatedInvite } from './schema.ts'
import { insertInvite } from './store.ts'

/** The default lifetime and number of uses of an invite. */
const DEFAULTS = { ttl_seconds: 86_400, max_uses: 1, mail: false }

const NO_MAILS = { reason: 'key' as const, message: 'A bot invites no email addresses.' }

/**
 * Creates an invite inside a transaction, for an actor with the right to do so.
 *
 * @throws ChatError `forbidden` with an API key for an owner or admin, and for a bot that names an address;
 *   `validation_failed` for more uses than `invites.max_uses`; `unavailable` if the queue of mails is full
 */
export async function createInvite(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  conversationId: string,
  invite: {
    email?: string | undefined
    role: ParticipantRole
    ttl_seconds?: number
    max_uses?: number
    mail?: boolean
  },
): Promise<CreatedInvite> {
  const { ttl_seconds, max_uses, mail } = { ...DEFAULTS, ...invite }
  refuseKeysFor(ctx.access, actor, invite.role)
  if (actor.is_bot && invite.email !== undefined) throw new ChatError('forbidden', NO_MAILS)
  const most = ctx.config.invites.max_uses
  if (max_uses > most)
    throw new ChatError('validation_failed', { errors: [{ path: 'max_uses', message: `must be at most ${most}` }] })
  const token = newToken()
  const now = ctx.now()
  const row = {
    id: ctx.id(),
    conversation_id: conversationId,
    token_hash: digest(token),
    created_by: actor.system === undefined ? actor.user_id || null : null,
    email: invite.email?.trim() ?? null,
    email_key: invite.email === undefined ? null : uniqueKey(invite.email),
    role: invite.role,
    max_uses,
    created_at: now,
    expires_at: now + ttl_seconds * SECOND,
    mailed: mail ? 1 : 0,
    key_id: actor.server_key === undefined ? (actor.key_id ?? null) : null,
    server_key_id: actor.server_key ?? null,
  }
  await insertInvite(tx, row)
  const { email, email_key } = row
  if (mail && email !== null && email_key !== null) await queueMail(ctx, tx, { ...row, email, email_key })
  const detail = { conversation_id: conversationId, role: row.role, max_uses, for_address: row.email !== null }
  tx.audit({ act: 'invite.created', ...byActor(actor), subject_id: row.id, conversation_id: conversationId, detail })
  // The stored token of a mailed invite is never returned: its mails contain other tokens.
  return { ...(!mail && { token }), expires_at: toInstant(row.expires_at), invite_id: row.id }
}

/**
 * Refuses invites by keys to roles that manage participants: a stolen key must not make any that could take the
 * conversation over once it is revoked.
 *
 * @throws ChatError `forbidden`
 */
export function refuseKeysFor(access: Access, actor: Actor, role: string): void {
  if (hasRight(access, role, 'manage')) refuseKeys(actor)
}
