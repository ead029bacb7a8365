import { ChatError } from 'chat-server/client'
import type { PendingPost } from 'chat-server/client/store'
import { quotaText } from '../answers/quota-text.ts'
import { useApp } from '../app/context.ts'
import { messageOf } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'

/** Why a post is not stored, and what can be done about it. */
export function FailedPost({ post: { key, error } }: { post: PendingPost }) {
  const { store } = useApp()
  const { messages } = texts.value
  return (
    <div class="note error" role="alert">
      <span>
        {isRefused(error) ? messages.not_sent : messages.waiting} {quotaText(error) ?? messageOf(error)}
      </span>
      <span class="choices-inline">
        <button type="button" class="link" onClick={() => void store.retry(key)}>
          {messages.send_again}
        </button>
        <button type="button" class="link" onClick={() => store.discard(key)}>
          {messages.discard}
        </button>
      </span>
    </div>
  )
}

/** Whether it would be refused again: else it is sent again by itself. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof ChatError) || error.status >= 500 || error.status === 408) return false
  return error.status !== 429 || error.quota !== undefined
}
