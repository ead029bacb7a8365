import { hasSingleKeys } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { plainOf } from '../markdown/plain.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { type InboxRow, unreadOf } from './rows.ts'
import { isAnswer, nameOf, sentenceOfRow } from './sentence.ts'
import { targetOfRow } from './target.ts'

interface ItemProps {
  row: InboxRow
  onOpen: () => void
  onDone: () => void
}

/** A row of the inbox, which leads to what it is about. */
export function InboxItem({ row, onOpen, onDone }: ItemProps) {
  const { store, people } = useApp()
  const { conversations } = useReadable(store.conversations)
  const words = texts.value.inbox
  const [item] = row.items
  const { kind, actor_user_id, conversation_id, at, excerpt } = item
  const conversation = conversations.find(({ id }) => id === conversation_id)
  const isInRoom = conversation && !conversation.direct && kind !== 'added'
  const isUnread = unreadOf(row).length > 0
  return (
    <li>
      <a
        href={hrefOf(targetOfRow(row, conversation?.layout))}
        data-unread={isUnread}
        onClick={onOpen}
        onKeyDown={(event) => {
          if (hasSingleKeys.value === 'off') return
          if (event.key !== 'e' || event.ctrlKey || event.metaKey || event.altKey || !isUnread) return
          event.preventDefault()
          onDone()
        }}
      >
        {isAnswer(item) ? <AssistantAvatar /> : <Avatar id={actor_user_id ?? 'app'} name={nameOf(item, people)} />}
        <span class="name" dir="auto">
          {isUnread && <span class="hidden">{words.unread}</span>} {sentenceOfRow(row, people)}
          {isInRoom && ` ${words.place(titleOf(conversation))}`}
        </span>
        <time datetime={at} title={longTime(at)}>
          {shortTime(at)}
        </time>
        {excerpt && (
          <span class="excerpt" dir="auto">
            {plainOf(excerpt)}
          </span>
        )}
        {kind === 'added' && conversation && <small dir="auto">{titleOf(conversation)}</small>}
      </a>
      {isUnread && <IconButton icon="check" label={words.done} onClick={onDone} />}
    </li>
  )
}
