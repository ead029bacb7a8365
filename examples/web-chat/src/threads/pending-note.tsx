import { ChatError } from 'chat-server/client'
import type { PendingPost } from 'chat-server/client/store'
import { useEffect } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { isOnline } from '../app/online.ts'
import { messageOf } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'

/** What becomes of a post that is not stored yet. */
export function PendingNote({ post: { key, status, error } }: { post: PendingPost }) {
  const { store } = useApp()
  const { messages, retry } = texts.value
  // The store sends it again once a lost stream is back; a stream may have outlived the time without a network, too.
  const isUnsent = status === 'failed' && !(error instanceof ChatError)
  useEffect(() => {
    if (!isUnsent) return
    let wasOnline = isOnline.peek()
    return isOnline.subscribe((isBack) => {
      if (isBack && !wasOnline) void store.retry(key)
      wasOnline = isBack
    })
  }, [key, isUnsent])
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
