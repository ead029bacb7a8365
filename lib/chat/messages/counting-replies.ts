import { countReplies, type Reply } from '../unread/store-follows.ts'
import type { PostPart } from './post-parts.ts'

/** Counts replies as unread for those who follow their threads by then. A plain root costs no statement. */
export function createReplyCounting(): PostPart {
  const replies: Reply[] = []
  return {
    load: () => Promise.resolve(),
    decide: () => undefined,
    add({ root_id, conversation_id, created_at: at }, { actor }, { parent, target }) {
      if (parent && target.is_direct !== 1) replies.push({ root_id, conversation_id, user_id: actor.user_id, at })
    },
    store(tx) {
      if (replies.length > 0) tx.defer(countReplies(tx, replies))
    },
  }
}
