import type { Reader } from '../../storage/unread-set.ts'
import { publishFollowed } from '../unread/publishing.ts'
import { followMentioned, type MentionedUser } from '../unread/store-follows.ts'
import { listReplies, type NewReply } from '../unread/store-listing.ts'
import type { PostPart } from './post-parts.ts'
import { ROOT_PATH } from './rules.ts'

/**
 * Lets the authors of replies, and the users that posts mention, follow the threads; lists and counts the replies for those who
 * follow by then. A plain root costs no statement.
 */
export function createFollowing(): PostPart {
  /** Users who follow a thread by their own reply, which is stored with it. */
  const authors = new Map<string, Reader & { root_id: string }>()
  const mentioned = new Map<string, MentionedUser>()
  const replies: NewReply[] = []

  return {
    load: () => Promise.resolve(),
    decide: () => undefined,

    add({ root_id, conversation_id, created_at: at, mentioned: ids }, { actor }, { parent, target }) {
      const { user_id } = actor
      if (parent) {
        const is_first = parent.path === ROOT_PATH && parent.reply_count === 0 ? 1 : 0
        replies.push({ root_id, conversation_id, is_first, is_direct: target.is_direct, at, by: user_id })
      }
      if (parent?.starts_following === 1) authors.set(`${root_id} ${user_id}`, { user_id, conversation_id, root_id })
      if (!ids || target.is_direct === 1) return
      for (const user_id of ids.split(',')) {
        const key = `${root_id} ${user_id}`
        if (!mentioned.has(key)) mentioned.set(key, { root_id, conversation_id, user_id, at })
      }
    },

    async store(tx) {
      const added = mentioned.size > 0 ? await followMentioned(tx, [...mentioned.values()]) : []
      if (replies.length > 0) tx.defer(listReplies(tx, replies))
      for (const { root_id, ...reader } of [...authors.values(), ...added])
        await publishFollowed(tx, reader, root_id, true)
    },
  }
}
