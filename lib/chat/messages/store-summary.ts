import { firstCharacters, toRootSummary } from '../../core/excerpt.ts'
import { toInstant } from '../../core/time.ts'
import type { MessageRow } from './store.ts'

/** A new thread, whose only message is its root, as a replay of its event would have it. */
export function toNewSummary(row: MessageRow, title: string | undefined) {
  const { id, created_at, content, prompt, role, posted_by, attachment_list = null } = row
  const at = toInstant(created_at)
  return {
    root_id: id,
    ...(title && { title }),
    ...toRootSummary(firstCharacters(prompt ?? content), attachment_list),
    ...(role !== 'assistant' && posted_by && { root_author: posted_by }),
    created_at: at,
    last_activity_at: at,
    message_count: 1,
    participant_count: 1,
  }
}
