import { firstCharacters, toRootSummary } from '../../core/excerpt.ts'
import { toInstant } from '../../core/time.ts'
import type { MessageRow } from './store.ts'

/** The summary of a new thread, whose only message is its root: what reading it would return. */
export function toNewSummary(row: MessageRow, title: string | undefined) {
  const { id, conversation_id, created_at, content, prompt, role, posted_by, attachment_list = null } = row
  const at = toInstant(created_at)
  return {
    root_id: id,
    conversation_id,
    ...(title && { title }),
    ...toRootSummary(firstCharacters(prompt ?? content), attachment_list),
    ...(role !== 'assistant' && posted_by && { root_author: posted_by }),
    created_at: at,
    last_activity_at: at,
    message_count: 1,
    participant_count: 1,
    last_replier_ids: [],
  }
}
