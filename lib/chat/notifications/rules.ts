import type { NotificationKind } from './schema.ts'

/** Whether a notification of this kind counts in `participants.unread_mentions`. */
export function isCounted(kind: NotificationKind): boolean {
  return kind === 'mention' || kind === 'reply' || kind === 'mention_all'
}
