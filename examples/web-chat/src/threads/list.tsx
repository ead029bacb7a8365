import type { ThreadSummary } from 'chat-server/client'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { plainOf } from '../markdown/plain.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useRoving } from '../parts/roving.ts'
import { UnreadBadge } from '../parts/unread-badge.tsx'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { PendingNote } from './pending-note.tsx'
import { useTopicNews } from './topic-news.ts'

interface ThreadListProps {
  conversation_id: string
  user_id: string
  /** The thread that is open. */
  selected: string | undefined
  /** What is shown while there is no thread. */
  empty: ComponentChildren
}

/** The threads of a conversation, latest activity first; those that are not stored yet before them. */
export function ThreadList({ conversation_id, user_id, selected, empty }: ThreadListProps) {
  const { store } = useApp()
  const threads = store.threads(conversation_id)
  const view = useReadable(threads)
  const { threads: all, pending, status, error, has_more } = view
  useKept(threads, view, `/api/conversations/${conversation_id}/threads`, ({ threads }) => ({
    threads: threads.slice(0, MAX_KEPT),
  }))
  useTopicNews(status === 'ready' ? all : undefined, selected, user_id)
  const end = useRef<HTMLLIElement>(null)
  const { list: keys } = useRoving()
  useVisible(end, () => void threads.loadMore(), has_more)
  if (status === 'failed') return <ErrorNote error={error} onRetry={() => void threads.reload()} />
  if (status === 'loading')
    return (
      <div class="scroll">
        <Waiting kind="card" />
      </div>
    )
  if (all.length === 0 && pending.length === 0) return empty ? <div class="scroll">{empty}</div> : <NoThreads />
  return (
    <ul class="thread-list scroll" {...keys}>
      {pending.map((post) => (
        <li key={post.key} class="thread-card pending">
          <p class="excerpt" dir="auto">
            {post.content}
          </p>
          <PendingNote post={post} />
        </li>
      ))}
      {all.map((thread) => (
        <ThreadCard
          key={thread.root_id}
          thread={thread}
          conversation_id={conversation_id}
          isSelected={thread.root_id === selected}
        />
      ))}
      {has_more && (
        <li ref={end} class="quiet">
          {texts.value.loading}
        </li>
      )}
    </ul>
  )
}

function NoThreads() {
  const { empty, empty_text } = texts.value.threads
  return (
    <div class="empty scroll">
      <Icon name="chat" />
      <h3>{empty}</h3>
      <p>{empty_text}</p>
    </div>
  )
}

function ThreadCard({
  thread,
  conversation_id,
  isSelected,
}: {
  thread: ThreadSummary
  conversation_id: string
  isSelected: boolean
}) {
  const { people } = useApp()
  const { root_id, root_author, root_excerpt, root_file_count, title, last_replier_ids } = thread
  const { message_count, last_activity_at, unread = 0 } = thread
  const name = root_author === undefined ? people.assistants.infoOf(undefined).title : people.nameOf(root_author)
  return (
    <li data-message-id={root_id}>
      <a
        class="thread-card"
        href={hrefOf({ name: 'thread', conversation_id, root_id })}
        aria-current={isSelected ? 'true' : undefined}
        data-unread={unread > 0}
      >
        {root_author === undefined ? <AssistantAvatar /> : <Avatar id={root_author} name={name} />}
        <span class="excerpt" dir="auto">
          {title || plainOf(root_excerpt).split('\n', 1)[0] || texts.value.messages.deleted}
        </span>
        {unread > 0 && <UnreadBadge count={unread} />}
        <span class="count">
          <bdi>{name}</bdi>
          {last_replier_ids.map((id) => (
            <Avatar key={id} id={id} name={people.nameOf(id)} />
          ))}
          {message_count > 1 && <span>{texts.value.stream.replies(message_count - 1)}</span>}
          {root_file_count !== undefined && (
            <span class="has-files">
              <Icon name="clip" />
              {texts.value.files.count(root_file_count)}
            </span>
          )}
          <time datetime={last_activity_at}>{shortTime(last_activity_at)}</time>
        </span>
      </a>
    </li>
  )
}
