import * as v from 'valibot'
import { MentionsInput } from '../../chat/mentions/schema.ts'
import { type PostedMessage, PostInput, RootInput } from '../../chat/messages/schema.ts'
import * as messages from '../../chat/messages/service.ts'
import * as threads from '../../chat/threads/service.ts'
import type { Context, Endpoint } from '../../context.ts'
import { mayWrite } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { bind } from '../../core/use-case.ts'
import { bounded, MAX_LIST_BYTES } from '../bounds.ts'
import { invalidParams } from '../failures.ts'
import { IdText, idOf, ShownMessage, threadLink } from './shapes.ts'
import { tool } from './tool.ts'

/** Where a post goes. */
export const PLACE = {
  conversation_id: v.optional(idOf('Begins a thread in this conversation; or parent_id')),
  parent_id: v.optional(idOf('Replies to this message')),
}

/** The fields of posts that agents set. */
export const POST = {
  title: v.optional(v.pipe(v.unwrap(RootInput.pipe[0].entries.title), v.description('Of a new thread'))),
  idempotency_key: v.optional(
    v.pipe(v.unwrap(PostInput.entries.idempotency_key), v.description('A repeated call with the same key posts once')),
  ),
}

/** Where a post goes: to the root of a conversation, or below a message. */
export interface PostPlace {
  conversation_id?: string | undefined
  parent_id?: string | undefined
}

/** The route of a post. */
export const routeOfPost = ({ parent_id }: PostPlace): Endpoint => ({
  method: 'POST',
  path: parent_id === undefined ? '/api/threads/{conversation_id}/root' : '/api/messages/{parent_id}/reply',
})

/** The input of a post: that of a root may have a title. */
type Post = Parameters<typeof messages.postRoot.run>[3] extends infer Input
  ? Partial<Input> & { content: string }
  : never

/**
 * Posts a message.
 *
 * @throws RpcError unless there is one place, and for the title of a reply
 */
export function post(ctx: Context, actor: Actor, place: PostPlace, { title, ...input }: Post): Promise<PostedMessage> {
  const { conversation_id, parent_id } = place
  if (conversation_id !== undefined && parent_id === undefined)
    return bind(ctx, messages.postRoot)(actor, conversation_id, { ...input, title })
  if (parent_id === undefined || conversation_id !== undefined)
    throw invalidParams('Give either "conversation_id" or "parent_id".')
  if (title !== undefined) throw invalidParams('"title" is of a new thread: a reply has none.')
  return bind(ctx, messages.reply)(actor, parent_id, input)
}

/** Whether a user may write anything. */
export const isWriter = ({ access }: Context, { roles, system }: Actor): boolean =>
  system !== undefined || mayWrite(access, roles)

export const post_message = tool({
  title: 'Post a message',
  description:
    'Posts a message as the user: it begins a thread, or replies to a message. Other people see it at once. Without mentions, names after an @ in the text are mentioned.',
  scope: 'chat:write',
  effect: 'adds',
  route: routeOfPost,
  args: v.object({
    ...PLACE,
    content: v.pipe(v.unwrap(PostInput.entries.content), v.description('Markdown')),
    ...POST,
    mentions: v.optional(MentionsInput),
  }),
  output: v.object({ message_id: IdText, root_id: IdText, conversation_id: IdText, message: ShownMessage }),
  isOffered: isWriter,
  async run({ ctx, actor }, { conversation_id, parent_id, ...input }) {
    const posted = await post(ctx, actor, { conversation_id, parent_id }, { ...input, role: 'user' })
    const { message_id, root_id, message, answers } = posted
    const value = {
      message_id,
      root_id,
      conversation_id: posted.conversation_id,
      message: bounded(message, MAX_LIST_BYTES),
      ...(answers && { answers: answers.map(({ id, assistant }) => ({ message_id: id, assistant })) }),
    }
    return { value, links: [threadLink(posted)] }
  },
})

export const mark_read = tool({
  title: 'Mark as read',
  description: 'Marks a thread as read for the user: up to a message, or all of it. Other people may see that.',
  scope: 'chat:write',
  effect: 'sets',
  route: () => ({ method: 'POST', path: '/api/threads/{root_id}/read' }),
  args: v.object({
    root_id: idOf('The first message of the thread'),
    message_id: v.optional(idOf('The last message that is read')),
  }),
  output: v.object({ root_id: IdText }),
  isOffered: isWriter,
  async run({ ctx, actor }, { root_id, message_id }) {
    await bind(ctx, threads.markRead)(actor, root_id, message_id === undefined ? {} : { message_id })
    return { value: { root_id } }
  },
})
