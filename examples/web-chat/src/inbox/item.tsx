import type { Notification } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { plainOf } from '../markdown/plain.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { isAnswer, sentenceOf } from './sentence.ts'
import { targetOf } from './target.ts'

/** A notification, which leads to what it is about. */
export function InboxItem({ item, onOpen }: { item: Notification; onOpen: () => void }) {
  const { store, people } = useApp()
  const { conversations } = useReadable(store.conversations)
  const { actor_user_id, conversation_id, at, excerpt, read_at } = item
  const conversation = conversations.find(({ id }) => id === conversation_id)
  const sentence = sentenceOf(item, people)
  return (
    <li>
      <a href={hrefOf(targetOf(item))} data-unread={read_at === undefined} onClick={onOpen}>
        {isAnswer(item) ? (
          <AssistantAvatar />
        ) : (
          <Avatar id={actor_user_id ?? 'app'} name={people.nameOf(actor_user_id)} />
        )}
        <span class="name" dir="auto">
          {read_at === undefined && <span class="hidden">{texts.value.inbox.unread}</span>} {sentence}
        </span>
        <time datetime={at} title={longTime(at)}>
          {shortTime(at)}
        </time>
        {excerpt && (
          <span class="excerpt" dir="auto">
            {plainOf(excerpt)}
          </span>
        )}
        {conversation && !conversation.direct && <small dir="auto">{titleOf(conversation)}</small>}
      </a>
    </li>
  )
}
