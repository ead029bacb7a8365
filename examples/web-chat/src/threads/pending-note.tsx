import { ChatError } from 'chat-server/client'
import type { PendingPost } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { messageOf } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'

/** What becomes of a post that is not stored yet. */
export function PendingNote({ post: { key, status, error } }: { post: PendingPost }) {
  const { store } = useApp()
  const { messages } = texts.value
  if (status === 'sending') return <p class="note">{messages.sending}</p>
  return (
    <div class="note error" role="alert">
      <span>
        {isRefused(error) ? messages.not_sent : messages.waiting} {messageOf(error)}
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
  return error instanceof ChatError && error.status < 500 && error.status !== 408 && error.status !== 429
}
