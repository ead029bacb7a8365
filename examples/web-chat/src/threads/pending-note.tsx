import type { PendingPost } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { messageOf } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'

/** What becomes of a post that is not stored yet. */
export function PendingNote({ post: { key, status, error } }: { post: PendingPost }) {
  const { store } = useApp()
  const { messages, retry } = texts.value
  if (status === 'sending') return <p class="note">{messages.sending}</p>
  return (
    <div class="note error" role="alert">
      <span>
        {messages.not_sent} {messageOf(error)}
      </span>
      <span class="choices-inline">
        <button type="button" class="link" onClick={() => void store.retry(key)}>
          {retry}
        </button>
        <button type="button" class="link" onClick={() => store.discard(key)}>
          {messages.discard}
        </button>
      </span>
    </div>
  )
}
