import type { Attachment } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'

/**
 * The files of an answer, without those of a question that is shown above it. Those that the assistant has made are attachments once
 * it has ended, parts before.
 */
export function filesOf({ prompt, attachments = [], parts = [], created_at }: StoreMessage): readonly Attachment[] {
  const own = prompt ? attachments.filter(({ generated }) => generated) : attachments
  const attached = new Set(attachments.map(({ id }) => id))
  const made = parts
    .filter((part) => part.type === 'file')
    .filter(({ attachment_id }) => !attached.has(attachment_id))
    .map(
      ({ attachment_id, name, media_type, size }): Attachment => ({
        id: attachment_id,
        name,
        size,
        type: media_type,
        status: 'ready',
        created_at,
      }),
    )
  return [...own, ...made]
}
