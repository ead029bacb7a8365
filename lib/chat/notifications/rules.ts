import { COUNTED_KINDS } from '../conversations/schema-settings.ts'
import type { NotificationKind } from './schema.ts'

/** Whether a notification of this kind counts in `participants.unread_mentions`. */
export function isCounted(kind: NotificationKind): boolean {
  return COUNTED_KINDS.includes(kind)
}
