import { useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'
import type { ArticleProps } from './message.tsx'
import { type MessageChoice, useMessageChoices } from './message-choices.ts'
import { useIsNear } from './near.ts'
import { EmojiButtons, ReactionMenu, react } from './reactions.tsx'

const EmojiDialog = lazy(() => import('../emoji/emoji-dialog.tsx').then(({ EmojiDialog }) => EmojiDialog))
const Readers = lazy(() => import('./readers.tsx').then(({ ReadersDialog }) => ReadersDialog))

/**
 * What the user may do with a message: the most frequent beside it, where there is a pointer; all of it in a menu. They are
 * half of what a message consists of, and are rendered once it comes near the view.
 */
export function MessageActions(props: ArticleProps) {
  const place = useRef<HTMLDivElement>(null)
  const isNear = useIsNear(place)
  if (props.message.deleted_at) return null
  return (
    <div ref={place} class="actions">
      {isNear && <Actions {...props} />}
    </div>
  )
}

function Actions(props: ArticleProps) {
  const { message, canWrite, onReply, onThread, onEdit, user_id } = props
  const { client, store } = useApp()
  const [opened, setOpened] = useState<'emoji' | 'remove' | 'readers'>()
  const onMore = () => setOpened('emoji')
  const choices = useMessageChoices(props, setOpened)
  const { messages } = texts.value
  const isOwn = message.author_user_id === user_id
  return (
    <>
      {canWrite && (
        <div class="at-hand">
          <ReactionMenu message={message} onMore={onMore} />
          {message.status !== 'streaming' && (
            <IconButton icon="reply" label={messages.reply} onClick={() => onReply(message)} />
          )}
          {onThread && <IconButton icon="chat" label={messages.thread} onClick={() => onThread(message)} />}
          {isOwn && message.role === 'user' && (
            <IconButton icon="edit" label={messages.edit} onClick={() => onEdit(message.id)} />
          )}
        </div>
      )}
      <Menu label={messages.more} button={<Icon name="more" />}>
        {(close) => (
          <>
            {canWrite && (
              <div class="emoji touch-only">
                <EmojiButtons message={message} onDone={close} onMore={onMore} />
              </div>
            )}
            {choices.map((choice) => (
              <ChoiceButton key={choice.icon} choice={choice} onDone={close} />
            ))}
          </>
        )}
      </Menu>
      {opened === 'emoji' && (
        <EmojiDialog onPick={(emoji) => react(store, message, emoji)} onClose={() => setOpened(undefined)} />
      )}
      {opened === 'readers' && <Readers message_id={message.id} onClose={() => setOpened(undefined)} />}
      {opened === 'remove' && (
        <Confirm
          title={messages.remove_title}
          text={messages.remove_text}
          button={messages.remove}
          act={() => client.messages.remove(message.id)}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

function ChoiceButton({ choice, onDone }: { choice: MessageChoice; onDone: () => void }) {
  return (
    <button
      type="button"
      class={choice.isAtHand || choice.isForTouch ? 'touch-only' : undefined}
      onClick={() => {
        onDone()
        choice.act()
      }}
    >
      <Icon name={choice.icon satisfies IconName} />
      {choice.text}
    </button>
  )
}
