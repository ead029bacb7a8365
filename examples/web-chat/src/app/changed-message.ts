import { signal } from '@preact/signals'
import type { Message, ReceivedEvent } from 'chat-server/client'

/** The message that was edited, deleted or restored last. */
export const changedMessage = signal<Message | undefined>(undefined)

/** Notes the message that an event has changed. */
export function noteChange({ type, payload }: ReceivedEvent['event']): void {
  if (type === 'message.edited' || type === 'message.deleted' || type === 'message.restored')
    changedMessage.value = payload.message
}
