import { toQuote } from './quotes.ts'
import type { PendingPost, StoreMessage } from './types.ts'

/** Each post that is not stored yet after the last message below the one it answers. */
export function withPending(messages: readonly StoreMessage[], pending: readonly PendingPost[], user_id: string) {
  if (pending.length === 0) return messages
  const all = [...messages]
  for (const post of pending) {
    const parent = all.find(({ id }) => id === post.parent_id)
    const last = parent ? all.findLastIndex(({ path }) => path.startsWith(parent.path)) : all.length - 1
    const quoted = all.find(({ id }) => id === post.quote_id)
    all.splice(last + 1, 0, toMessage(post, { parent, quoted }, user_id))
  }
  return all
}

export function toMessage(
  post: PendingPost,
  { parent, quoted }: { parent: StoreMessage | undefined; quoted: StoreMessage | undefined },
  user_id: string,
): StoreMessage {
  // One that leaves it out is shown as the user's own until the service has said which it is.
  const { key, conversation_id, role = 'user', content, created_at, assistant, attachments, variant_of } = post
  return {
    id: key,
    conversation_id,
    root_id: post.root_id ?? key,
    ...(post.parent_id !== undefined && { parent_id: post.parent_id }),
    role,
    ...(role === 'user' ? { content } : { content: '', prompt: content }),
    // Not known before the service was reached.
    ...(user_id && { [role === 'user' ? 'author_user_id' : 'requested_by']: user_id }),
    path: parent?.path ?? '',
    depth: (parent?.depth ?? -1) + 1,
    status: role === 'user' ? 'complete' : 'streaming',
    created_at,
    ...(variant_of !== undefined && { variant_of }),
    ...(assistant !== undefined && { assistant }),
    ...(attachments && { attachments }),
    ...(quoted && { quote: toQuote(quoted) }),
    pending: post,
  }
}
