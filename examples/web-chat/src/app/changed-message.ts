import { signal } from '@preact/signals'
import type { Approval, Message, ReceivedEvent } from 'chat-server/client'

/** The message that was edited, deleted or restored last. */
export const changedMessage = signal<Message | undefined>(undefined)

/** The call of a tool on which participants have decided last, or that began to wait for them. */
export const changedApproval = signal<Approval | undefined>(undefined)

/** By the ids of answers for which their assistant was too busy, when it may be asked again, in milliseconds. */
export const busyUntil = signal<ReadonlyMap<string, number>>(new Map())

/** Notes the message, or the approval, that an event has changed. */
export function noteChange({ type, payload }: ReceivedEvent['event']): void {
  if (type === 'message.edited' || type === 'message.deleted' || type === 'message.restored')
    changedMessage.value = payload.message
  else if (type === 'approval.changed') changedApproval.value = payload.approval
  else if (type === 'message.failed' && payload.retry_after_seconds)
    busyUntil.value = new Map(busyUntil.peek()).set(
      payload.message_id,
      Date.now() + payload.retry_after_seconds * 1_000,
    )
}
