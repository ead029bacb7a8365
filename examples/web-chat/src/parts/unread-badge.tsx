import { texts } from '../texts/texts.ts'

/** How many messages are unread; read aloud as a sentence. */
export function UnreadBadge({ count }: { count: number }) {
  return (
    <span class="badge">
      <span aria-hidden="true" dir="ltr">
        {count > 99 ? '99+' : count}
      </span>
      <span class="hidden">{texts.value.conversations.unread(count)}</span>
    </span>
  )
}

/** How many of them are for the user: mentions, and replies. */
export function MentionBadge({ count }: { count: number }) {
  return (
    <span class="badge mentions">
      <span aria-hidden="true" dir="ltr">
        @{count > 99 ? '99+' : count}
      </span>
      <span class="hidden">{texts.value.conversations.mentions(count)}</span>
    </span>
  )
}
