import type { Context } from '../../context.ts'
import { assertMay } from '../../core/access.ts'
import type { Queries } from '../../storage/database.ts'
import { listChosen } from '../attachments/attaching.ts'
import { FOUNDER, type Membership, requireMember } from '../memberships/access.ts'
import { layoutOf } from '../memberships/rules-look.ts'
import { findAsking } from '../memberships/store-conversations.ts'
import { createAsked, type PlaceOfQuestion } from './asking.ts'
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
  post: NewPost,
  repeatable?: Repeatable,
): Promise<Pick<PostInput, 'content' | 'role'> | undefined> {
  const { actor, input, where } = post
  const { content, metadata, quote_id, title, stream } = input
  if (repeatable && (await findEarlier(ctx.db, repeatable, ctx.now()))) return undefined
  const conversation_id = await placeOf(ctx.db, where)
  const act = 'parent_id' in where ? 'reply' : 'post'
  const place = post.beside?.is_founding ? FOUNDER : await requireMember(ctx, ctx.db, actor, conversation_id, { act })
  assertMay(ctx.access, { ...place, actor }, act)
  const target = { conversation_id: conversation_id!, ...('parent_id' in where && where) }
  const asking = { ...place, ...(await findAsking(ctx.db, target.conversation_id)) }
  const role = postedRole(actor, wantedRole(input), layoutOf(asking))
  const chosen = { ids: input.attachment_ids, user_id: actor.user_id, conversation_id: conversation_id! }
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
  const assistants = await listAsked(ctx, post, target.conversation_id, asking)
  const more = {
    ...(assistants.length > 0 && { assistants }),
    ...(quote_id && { quote_id }),
    ...(title && { title }),
    ...(metadata && { metadata }),
    ...(attachments.length > 0 && { attachments }),
    ...(stream && { streaming: true as const }),
  }
  const message = { actor, ...target, role, content, ...more }
  return { content: await reviewMessage(ctx, message), role: role === 'assistant' ? role : 'user' }
}

/** The keys of the assistants that a post asks. @throws ChatError for one that it cannot ask */
async function listAsked(
  ctx: Context,
  post: NewPost,
  conversation_id: string,
  { policy = null, frozen_at = null, ...place }: Membership & Omit<PlaceOfQuestion, 'n' | 'policy' | 'frozen_at'>,
): Promise<string[]> {
  const { load, askedBy } = createAsked(ctx, [post])
  const parent_id = 'parent_id' in post.where ? post.where.parent_id : null
  await load(ctx.db, [{ n: 0, conversation_id, parent_id, user_id: post.actor.user_id }])
  return askedBy(post, { ...place, n: 0, policy, frozen_at }).keys
}

/** The files of a post. @throws ChatError as `listChosen`, and for a message that the post cannot name */
async function listFiles(
  ctx: Context,
  { content, quote_id, variant_of }: Pick<PostInput, 'content' | 'quote_id' | 'variant_of'>,
  answer: Parameters<typeof checkVariant>[2],
  chosen: Parameters<typeof listChosen>[1],
) {
  if (quote_id !== undefined) await checkQuote(ctx.db, quote_id, chosen.conversation_id)
  if (variant_of !== undefined) await checkVariant(ctx.db, variant_of, answer)
  const again = variant_of === undefined ? undefined : { variant_of, content, parent_id: answer.parent_id }
  return listChosen(ctx, { ...chosen, again })
}
