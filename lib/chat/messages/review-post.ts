import type { Context } from '../../context.ts'
import { assertMay } from '../../core/access.ts'
import type { Queries } from '../../storage/database.ts'
import { listChosen } from '../attachments/attaching.ts'
import { requireMember } from '../memberships/access.ts'
import { findLayout } from '../memberships/store-conversations.ts'
import type { NewPost } from './batch.ts'
import { checkQuote } from './quoting.ts'
import { reviewMessage } from './review.ts'
import { postedRole, wantedRole } from './rules.ts'
import type { PostInput } from './schema.ts'
import { findPlaceOf } from './store.ts'
import { findEarlier, type Repeatable } from './store-idempotency.ts'
import { checkVariant } from './variants.ts'

/** The conversation of a post, without a check of rights. */
export async function placeOf(db: Queries, where: NewPost['where']): Promise<string | undefined> {
  return 'parent_id' in where ? findPlaceOf(db, where.parent_id) : where.conversation_id
}

/**
 * The text and the role of a post after the host's hook, which gets no post that is repeated, or refused anyway.
 *
 * @throws ChatError `not_found`, `forbidden` as `addPosts`; `forbidden`, `validation_failed`, `unavailable` by the hook
 */
export async function reviewPost(
  ctx: Context,
  { actor, input, where }: NewPost,
  repeatable?: Repeatable,
): Promise<Pick<PostInput, 'content' | 'role'> | undefined> {
  const { content, metadata, quote_id, title, stream } = input
  if (repeatable && (await findEarlier(ctx.db, repeatable, ctx.now()))) return undefined
  const conversation_id = await placeOf(ctx.db, where)
  const act = 'parent_id' in where ? 'reply' : 'post'
  const place = await requireMember(ctx, ctx.db, actor, conversation_id, { act })
  assertMay(ctx.access, { ...place, actor }, act)
  const target = { conversation_id: conversation_id!, ...('parent_id' in where && where) }
  const role = postedRole(actor, wantedRole(input), await findLayout(ctx.db, target.conversation_id))
  const chosen = { ids: input.attachment_ids ?? [], user_id: actor.user_id, conversation_id: conversation_id! }
  const answer = {
    role,
    conversation_id: chosen.conversation_id,
    parent_id: 'parent_id' in where ? where.parent_id : null,
  }
  const attachments = await listFiles(ctx, input, answer, chosen).catch(async (error: unknown) => {
    // An earlier call of the same post may have taken them.
    if (repeatable && (await findEarlier(ctx.db, repeatable, ctx.now()))) return undefined
    throw error
  })
  if (!attachments) return undefined
  const more = {
    ...(quote_id && { quote_id }),
    ...(title && { title }),
    ...(metadata && { metadata }),
    ...(attachments.length > 0 && { attachments }),
    ...(stream && { streaming: true as const }),
  }
  const message = { actor, ...target, role, content, ...more }
  return { content: await reviewMessage(ctx, message), role: role === 'assistant' ? role : 'user' }
}

/** The files of a post. @throws ChatError as `listChosen`, and for a message that the post cannot name */
async function listFiles(
  ctx: Context,
  { quote_id, variant_of }: Pick<PostInput, 'quote_id' | 'variant_of'>,
  answer: Parameters<typeof checkVariant>[2],
  chosen: Parameters<typeof listChosen>[1],
) {
  if (quote_id !== undefined) await checkQuote(ctx.db, quote_id, chosen.conversation_id)
  if (variant_of !== undefined) await checkVariant(ctx.db, variant_of, answer)
  return listChosen(ctx, chosen)
}
