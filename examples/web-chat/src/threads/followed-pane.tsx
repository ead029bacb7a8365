import type { ThreadSummary } from 'chat-server/client'
import { followedThreadsOf } from 'chat-server/client/parts'
import { useMemo, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { useNames } from '../inbox/names.ts'
import { plainOf } from '../markdown/plain.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useRoving } from '../parts/roving.ts'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { UnreadBadge } from '../parts/unread-badge.tsx'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'

const hasNews = ({ unread_replies = 0 }: ThreadSummary) => unread_replies > 0

/** The threads that the user follows, over all conversations: those with unread replies first. */
export function FollowedPane() {
  const { store } = useApp()
  const list = followedThreadsOf(store)
  const { threads, status, error, has_more } = useReadable(list)
  const sorted = useMemo(() => [...threads.filter(hasNews), ...threads.filter((each) => !hasNews(each))], [threads])
  const end = useRef<HTMLLIElement>(null)
  const { list: keys } = useRoving()
  const words = texts.value.followed
  useVisible(end, () => void list.loadMore(), has_more)
  useNames(
    useMemo(
      () => threads.map(({ root_author, conversation_id }) => ({ actor_user_id: root_author, conversation_id })),
      [threads],
    ),
  )
  return (
    <SettingsPane title={words.title} tabs={[]} current="">
      <ErrorNote error={status === 'failed' ? error : undefined} onRetry={() => void list.reload()} />
      {status === 'loading' && <Waiting kind="item" />}
      {status === 'ready' && sorted.length === 0 && <p class="quiet">{words.empty}</p>}
      <ul class="inbox rows" {...keys}>
        {sorted.map((thread) => (
          <FollowedThread key={thread.root_id} thread={thread} />
        ))}
        {has_more && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
    </SettingsPane>
  )
}

function FollowedThread({ thread }: { thread: ThreadSummary }) {
  const { store, people } = useApp()
  const { conversations } = useReadable(store.conversations)
  const { conversation_id, root_id, root_author, title, root_excerpt, last_activity_at, message_count } = thread
  const { unread_replies = 0 } = thread
  const conversation = conversations.find(({ id }) => id === conversation_id)
  const author = root_author === undefined ? people.assistants.infoOf(undefined).title : people.nameOf(root_author)
  return (
    <li>
      <a href={hrefOf({ name: 'thread', conversation_id, root_id })} data-unread={hasNews(thread)}>
        {root_author === undefined ? <AssistantAvatar /> : <Avatar id={root_author} name={author} />}
        <span class="name" dir="auto">
          {title || plainOf(root_excerpt) || texts.value.messages.deleted}
        </span>
        <time datetime={last_activity_at} title={longTime(last_activity_at)}>
          {shortTime(last_activity_at)}
        </time>
        <small>
          <bdi>{author}</bdi>
          {conversation && (
            <>
              {' · '}
              {conversation.direct ? '' : '# '}
              <bdi>{titleOf(conversation)}</bdi>
            </>
          )}
          {` · ${texts.value.threads.messages(message_count)}`}
        </small>
        {unread_replies > 0 && <UnreadBadge count={unread_replies} />}
      </a>
    </li>
  )
}
