import type { StoreMessage } from 'chat-server/client/store'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote, messageOf } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { showToast } from '../parts/toast.tsx'
import { texts } from '../texts/texts.ts'

/** The reactions that are a click away. */
const USUAL = ['👍', '❤️', '😂', '🎉', '😮', '😢', '🙏', '👀']

/** The reactions to a message; a click adds one's own, or takes it back. */
export function Reactions({ message, canReact }: { message: StoreMessage; canReact: boolean }) {
  const { store, people } = useApp()
  const { id, reactions, reacted = [] } = message
  const { run, error } = useAction((emoji: string) => toggle(store, message, emoji))
  if (!reactions?.length) return null
  return (
    <div class="reactions">
      {reactions.map(({ emoji, count, user_ids }) => (
        <button
          key={`${id} ${emoji}`}
          type="button"
          class="reaction"
          aria-pressed={reacted.includes(emoji)}
          aria-label={texts.value.messages.reaction(emoji, count)}
          title={user_ids.map((user_id) => people.nameOf(user_id)).join(', ')}
          disabled={!canReact}
          onClick={() => void run(emoji)}
        >
          <span aria-hidden="true">{emoji}</span>
          <span aria-hidden="true">{count}</span>
        </button>
      ))}
      <ErrorNote error={error} />
    </div>
  )
}

/** A button that offers the usual reactions. */
export function ReactionMenu({ message }: { message: StoreMessage }) {
  return (
    <Menu label={texts.value.messages.react} button={<Icon name="smile" />}>
      {(close) => (
        <div class="emoji">
          <EmojiButtons message={message} onDone={close} />
        </div>
      )}
    </Menu>
  )
}

/** The usual reactions as buttons. */
export function EmojiButtons({ message, onDone }: { message: StoreMessage; onDone: () => void }) {
  const { store } = useApp()
  return (
    <>
      {USUAL.map((emoji) => (
        <button
          key={emoji}
          type="button"
          aria-pressed={message.reacted?.includes(emoji) ?? false}
          onClick={() => {
            onDone()
            toggle(store, message, emoji).catch((error) => showToast(messageOf(error), { isError: true }))
          }}
        >
          {emoji}
        </button>
      ))}
    </>
  )
}

function toggle(
  store: ReturnType<typeof useApp>['store'],
  { id, reacted }: StoreMessage,
  emoji: string,
): Promise<void> {
  return reacted?.includes(emoji) ? store.unreact(id, emoji) : store.react(id, emoji)
}
