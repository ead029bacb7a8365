import type { Context } from '../../context.ts'
import { type ActorInConversation, assertMay, mayModerate } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import { type Membership, requireMember, requireReader } from '../memberships/access.ts'
import { type FoundAttachment, findAttachment } from './store.ts'

/** @throws ChatError `not_found` where there are no files */
export function assertEnabled({ config }: Pick<Context, 'config'>): void {
  if (!config.attachments.enabled) throw turnedOff('attachments.enabled')
}

/** An attachment, and the membership of the actor in its conversation. */
export interface ReadableAttachment {
  row: FoundAttachment
  membership: Membership
}

/**
 * An attachment that the actor may know of: every read of one calls this first. Before a message has it, that is its
 * uploader; then each reader of the message; after the message is deleted, each user who may restore it.
 *
 * @throws ChatError `not_found`
 */
export async function requireAttachment(
  ctx: Pick<Context, 'access' | 'config' | 'now'>,
  db: Queries,
  actor: Actor,
  id: string,
): Promise<ReadableAttachment> {
  assertEnabled(ctx)
  const row = await findAttachment(db, id)
  const membership = await requireReader(ctx, db, actor, row?.conversation_id)
  if (!row || !maySee(ctx, row, { actor, role: membership.role })) throw new ChatError('not_found')
  return { row, membership }
}

function maySee(
  { access, now }: Pick<Context, 'access' | 'now'>,
  row: FoundAttachment,
  by: ActorInConversation,
): boolean {
  if (row.message_id === null) return row.uploaded_by === by.actor.user_id && (row.expires_at ?? now()) > now()
  return row.is_deleted === 0 || mayModerate(access, by, { author: row.deleted_by ?? row.posted_by })
}

/**
 * Refuses an actor who may not add files to a conversation.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer and a read-only user
 */
export async function requireUploader(
  ctx: Pick<Context, 'access'>,
  db: Queries,
  actor: Actor,
  conversationId: string,
): Promise<void> {
  const place = await requireMember(ctx, db, actor, conversationId, { act: 'attach' })
  assertMay(ctx.access, { ...place, actor }, 'attach')
}
