import type { Tx } from '../../live/transaction.ts'
import type { ConversationSettings } from './schema-settings.ts'

/** Tells the streams of a participant what the participant's settings for a conversation are now. */
export function publishSettings(tx: Tx, userId: string, conversation_id: string, settings: ConversationSettings): void {
  tx.publishToInboxes([userId], { type: 'settings.update', payload: { conversation_id, settings } })
}
