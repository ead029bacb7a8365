import type { Pin } from 'chat-server/client'
import { pinsOf } from 'chat-server/client/parts'
import { useRef } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf, routeOfMessage } from '../app/route.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { useRoving } from '../parts/roving.ts'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { authorOf } from '../threads/author.ts'
import type { TabProps } from './pane.tsx'

/** The pinned messages of a conversation, latest first. */
export function Pins({ conversation }: TabProps) {
  const { store } = useApp()
  const list = pinsOf(store).list(conversation.id)
  const { pins, status, error, has_more } = useReadable(list)
  const end = useRef<HTMLLIElement>(null)
  const { list: keys } = useRoving()
  useVisible(end, () => void list.loadMore(), has_more)
  const words = roomTexts.value.pins
  return (
    <>
      {status === 'failed' && <ErrorNote error={error} onRetry={() => void list.reload()} />}
      {status === 'loading' && <Waiting kind="item" />}
      {status === 'ready' && pins.length === 0 && <p class="quiet">{words.empty}</p>}
      <ul class="inbox pins" {...keys}>
        {pins.map((pin) => (
          <PinItem
            key={pin.message.id}
            pin={pin}
            layout={conversation.layout}
            canPin={conversation.can.includes('pin')}
          />
        ))}
        {has_more && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
    </>
  )
}

function PinItem({ pin, layout, canPin }: { pin: Pin; layout: string; canPin: boolean }) {
  const { store, people } = useApp()
  const { id, conversation_id, root_id, content, prompt, role, author_user_id, created_at } = pin.message
  const { run, isRunning, error } = useAction(() => store.unpin(id))
  const name = authorOf(pin.message, people)
  return (
    <li>
      <a href={hrefOf(routeOfMessage({ conversation_id, root_id, message_id: id }, layout))}>
        {role === 'assistant' ? <AssistantAvatar /> : <Avatar id={author_user_id ?? 'app'} name={name} />}
        <span class="name" dir="auto">
          {name}
        </span>
        <time datetime={created_at}>{shortTime(created_at)}</time>
        <span class="excerpt clamped" dir="auto">
          {content || prompt}
        </span>
        {pin.by && <small dir="auto">{roomTexts.value.pins.by(people.nameOf(pin.by))}</small>}
      </a>
      {canPin && (
        <IconButton icon="close" label={texts.value.messages.unpin} disabled={isRunning} onClick={() => void run()} />
      )}
      <ErrorNote error={error} />
    </li>
  )
}
