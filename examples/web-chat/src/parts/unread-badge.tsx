import { texts } from '../texts/texts.ts'

/** A number that waits for the user; read aloud as a sentence. */
export function UnreadBadge({ count, text }: { count: number; text?: string }) {
  return (
    <span class="badge">
      <span aria-hidden="true" dir="ltr">
        {count > 99 ? '99+' : count}
      </span>
      <span class="hidden">{text ?? texts.value.conversations.unread(count)}</span>
    </span>
  )
}
