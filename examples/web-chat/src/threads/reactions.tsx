import type { ChatStore, StoreMessage } from 'chat-server/client/store'
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

interface ReactingProps {
  message: StoreMessage
  /** Called for all other emoji. */
  onMore: () => void
}

/** A button that offers the usual reactions. */
export function ReactionMenu(props: ReactingProps) {
  return (
    <Menu label={texts.value.messages.react} button={<Icon name="smile" />}>
      {(close) => (
        <div class="emoji">
          <EmojiButtons {...props} onDone={close} />
        </div>
      )}
    </Menu>
  )
}

/** The usual reactions as buttons, and one for all others. */
export function EmojiButtons({ message, onDone, onMore }: ReactingProps & { onDone: () => void }) {
  const { store } = useApp()
  const { more_emoji } = texts.value.messages
  return (
    <>
      {USUAL.map((emoji) => (
        <button
          key={emoji}
          type="button"
          aria-pressed={message.reacted?.includes(emoji) ?? false}
          onClick={() => {
            onDone()
            react(store, message, emoji)
          }}
        >
          {emoji}
        </button>
      ))}
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => {
          onDone()
          onMore()
        }}
      >
        <Icon name="plus" />
        {more_emoji}
      </button>
    </>
  )
}

/** Adds one's own reaction, or takes it back. */
export function react(store: ChatStore, message: StoreMessage, emoji: string): void {
  toggle(store, message, emoji).catch((error) => showToast(messageOf(error), { isError: true }))
}

function toggle(store: ChatStore, { id, reacted }: StoreMessage, emoji: string): Promise<void> {
  // The spellings of an emoji are one reaction.
  const key = (sign: string) => sign.replace(/[\u{FE0E}\u{FE0F}]/gu, '')
  const own = reacted?.find((each) => key(each) === key(emoji))
  return own === undefined ? store.react(id, emoji) : store.unreact(id, own)
}
