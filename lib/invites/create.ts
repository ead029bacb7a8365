import type { Actor, Context } from '../context.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { digest, newToken, SECOND, toInstant } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import { uniqueKey } from '../users/rules.ts'
import type { CreatedInvite } from './schema.ts'
import { insertInvite } from './store.ts'

/** How long an invite lasts, and how often it may be used, when nothing else is said. */
const DEFAULTS = { ttl_seconds: 86_400, max_uses: 1 }

/** Makes an invite inside a transaction of somebody who may. */
export async function createInvite(
  ctx: Context,
  tx: Queries,
  actor: Actor,
  conversationId: string,
  invite: { email?: string | undefined; role: ParticipantRole; ttl_seconds?: number; max_uses?: number },
): Promise<CreatedInvite> {
  const { ttl_seconds, max_uses } = { ...DEFAULTS, ...invite }
  const token = newToken()
  const now = ctx.now()
  const row = {
    id: ctx.id(),
    conversation_id: conversationId,
    token_hash: digest(token),
    created_by: actor.user_id || null,
    email: invite.email?.trim() ?? null,
    email_key: invite.email === undefined ? null : uniqueKey(invite.email),
    role: invite.role,
    uses: 0,
    max_uses,
    created_at: now,
    expires_at: now + ttl_seconds * SECOND,
    revoked_at: null,
  }
  await insertInvite(tx, row)
  return { token, expires_at: toInstant(row.expires_at), invite_id: row.id }
}
