import { texts } from '../texts/texts.ts'

/** How many messages are unread; read aloud as a sentence. */
export function UnreadBadge({ count }: { count: number }) {
  return (
    <span class="badge">
      <span aria-hidden="true">{count > 99 ? '99+' : count}</span>
      <span class="hidden">{texts.value.conversations.unread(count)}</span>
    </span>
  )
}
