import { useApp } from '../app/context.ts'
import { forgetUnsentPost, oldPosts, renewUnsentPost } from '../app/unsent-storage.ts'
import { texts } from '../texts/texts.ts'

/** The posts of a place that have waited too long to be sent by themselves. */
export function NotSent({ user_id, place, isTalk }: { user_id: string; place: string; isTalk: boolean }) {
  const { store } = useApp()
  const { messages } = texts.value
  return (
    <>
      {oldPosts(user_id, place, isTalk).map(({ key, content }) => (
        <div key={key} class="not-sent note error" role="alert">
          <p class="clamped" dir="auto">
            {content}
          </p>
          <span>
            {messages.not_sent} {messages.too_old}
          </span>
          <span class="choices-inline">
            <button
              type="button"
              class="link"
              onClick={() => {
                const post = renewUnsentPost(user_id, key)
                if (post) void store.post(post)
              }}
            >
              {messages.send_again}
            </button>
            <button type="button" class="link" onClick={() => forgetUnsentPost(user_id, key)}>
              {messages.discard}
            </button>
          </span>
        </div>
      ))}
    </>
  )
}
