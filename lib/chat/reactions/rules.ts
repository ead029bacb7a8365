import { emojiKey } from '../../core/emoji.ts'
import { NAMED_USERS, type Reaction } from '../messages/schema.ts'

/** The reactions with an emoji, in any spelling. */
export function findKind(list: readonly Reaction[], emoji: string): Reaction | undefined {
  const key = emojiKey(emoji)
  return list.find((kind) => emojiKey(kind.emoji) === key)
}

/** The list with one more reaction, the latest of all. */
export function withReaction(list: readonly Reaction[], emoji: string, user_id: string): Reaction[] {
  const kind = findKind(list, emoji)
  if (!kind) return [...list, { emoji, count: 1, user_ids: [user_id] }]
  const user_ids = kind.user_ids.length < NAMED_USERS ? [...kind.user_ids, user_id] : kind.user_ids
  return list.map((entry) => (entry === kind ? { ...kind, count: kind.count + 1, user_ids } : entry))
}
