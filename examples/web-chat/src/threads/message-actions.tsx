import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { ACT } from '../keys/message-act.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'
import { isRunning } from './is-running.ts'
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
  const [wanted, setWanted] = useState<Wanted>()
  useEffect(() => {
    const { current } = place
    const onAct = ({ detail }: CustomEvent<string>) => setWanted({ act: detail })
    current?.addEventListener(ACT, onAct as EventListener)
    return () => current?.removeEventListener(ACT, onAct as EventListener)
  }, [])
  if (props.message.deleted_at) return null
  return (
    <div ref={place} class="actions">
      {(isNear || wanted) && <Actions {...props} place={place} wanted={wanted} />}
    </div>
  )
}

/** What a key has asked for. */
interface Wanted {
  act: string
}

interface ActionsProps extends ArticleProps {
  place: RefObject<HTMLElement | null>
  wanted: Wanted | undefined
}

function Actions({ place, wanted, ...props }: ActionsProps) {
  const { message, can, onReply, onThread } = props
  const { client, store } = useApp()
  const [opened, setOpened] = useState<'emoji' | 'remove' | 'readers'>()
  const onMore = () => setOpened('emoji')
  const choices = useMessageChoices(props, setOpened)
  const { messages } = texts.value
  useEffect(() => {
    if (!wanted) return
    const button = { menu: ':scope > .menu > button', react: '.at-hand .menu > button' }[wanted.act]
    if (button) place.current?.querySelector<HTMLElement>(button)?.click()
    else choices.find(({ name }) => name === wanted.act)?.act()
  }, [wanted])
  return (
    <>
      {(can.has('react') || can.has('reply') || onThread) && (
        <div class="at-hand">
          {can.has('react') && <ReactionMenu message={message} onMore={onMore} />}
          {can.has('reply') && !isRunning(message) && (
            <IconButton icon="reply" label={messages.reply} onClick={() => onReply(message)} />
          )}
          {onThread && <IconButton icon="chat" label={messages.thread} onClick={() => onThread(message)} />}
        </div>
      )}
      <Menu label={messages.more} button={<Icon name="more" />}>
        {(close) => (
          <>
            {can.has('react') && (
              <div class="emoji touch-only">
                <EmojiButtons message={message} onDone={close} onMore={onMore} />
              </div>
            )}
            {choices.map((choice) => (
              <ChoiceButton key={choice.name} choice={choice} onDone={close} />
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
      class={choice.isAtHand || choice.isForTouch ? 'touch-only' : choice.name === 'remove' ? 'apart' : undefined}
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
