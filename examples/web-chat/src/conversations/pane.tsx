import type { ThreadSummary, User } from 'chat-server/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { focusIn } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { useVisible } from '../parts/visible.ts'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { Composer } from '../threads/composer.tsx'
import { PendingNote } from '../threads/pending-note.tsx'
import { TypingLine } from '../threads/typing-line.tsx'
import { UnreadBadge } from './list.tsx'
import { PeopleDialog } from './people.tsx'
import { titleOf } from './title.ts'
import { mayWrite, type OpenConversation } from './use-conversation.ts'

interface PaneProps {
  id: string
  /** `undefined` until it is read. */
  conversation: OpenConversation | undefined
  user: User
  /** The thread that is open beside it. */
  root_id: string | undefined
}

/** A conversation: its threads, latest activity first, and a composer that begins one. */
export function ConversationPane({ id, conversation, user, root_id }: PaneProps) {
  const { store, people, presence } = useApp()
  const [hasPeople, setPeople] = useState(false)
  const pane = useRef<HTMLElement>(null)
  const threads = store.threads(id)
  const { composer, back } = texts.value
  // The count changes with who takes part: then there may be a new name.
  useEffect(() => void people.load(id).catch(() => {}), [id, conversation?.participant_count])
  // The thread beside it takes the focus, if there is one.
  useLayoutEffect(() => void (root_id === undefined && focusIn(pane.current)), [])

  async function begin(content: string, role: 'user' | 'assistant'): Promise<void> {
    const posted = await store.post({ conversation_id: id, content, role })
    if (posted && role === 'assistant') goTo({ name: 'thread', conversation_id: id, root_id: posted.root_id })
  }

  return (
    <section ref={pane} class="pane conversation" aria-labelledby="conversation-title">
      <header>
        <a class="icon-button back" href={hrefOf({ name: 'home' })} aria-label={back}>
          <Icon name="back" />
        </a>
        <h2 id="conversation-title" tabIndex={-1} dir="auto">
          {conversation ? titleOf(conversation) : '…'}
        </h2>
        {conversation && (
          <button type="button" class="people-button" aria-haspopup="dialog" onClick={() => setPeople(true)}>
            <Icon name="people" />
            <span aria-hidden="true">{conversation.participant_count}</span>
            <span class="hidden">{texts.value.people.count(conversation.participant_count)}</span>
          </button>
        )}
      </header>
      <ThreadList threads={threads} conversation_id={id} selected={root_id} />
      <footer>
        <TypingLine conversation_id={id} />
        {conversation && !mayWrite(conversation, user) ? (
          <p class="quiet">{composer.viewer}</p>
        ) : (
          <Composer
            user_id={user.id}
            place={id}
            placeholder={composer.thread}
            onSend={begin}
            onTyping={() => presence.sendTyping(id)}
          />
        )}
      </footer>
      {hasPeople && conversation && <PeopleDialog conversation={conversation} onClose={() => setPeople(false)} />}
    </section>
  )
}

function ThreadList({
  threads,
  conversation_id,
  selected,
}: {
  threads: ReturnType<ReturnType<typeof useApp>['store']['threads']>
  conversation_id: string
  selected: string | undefined
}) {
  const { threads: all, pending, status, error, has_more } = useReadable(threads)
  const end = useRef<HTMLLIElement>(null)
  useVisible(end, () => void threads.loadMore(), has_more)
  const { empty, empty_text } = texts.value.threads
  if (status === 'failed') return <ErrorNote error={error} />
  if (status === 'loading') return <p class="quiet scroll">{texts.value.loading}</p>
  if (all.length === 0 && pending.length === 0)
    return (
      <div class="empty scroll">
        <Icon name="chat" />
        <h3>{empty}</h3>
        <p>{empty_text}</p>
      </div>
    )
  return (
    <ul class="thread-list scroll">
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
  const { root_id, root_author, root_excerpt, message_count, last_activity_at, unread = 0 } = thread
  const name = root_author === undefined ? texts.value.assistant : people.nameOf(root_author)
  return (
    <li>
      <a
        class="thread-card"
        href={hrefOf({ name: 'thread', conversation_id, root_id })}
        aria-current={isSelected ? 'true' : undefined}
        data-unread={unread > 0}
      >
        <Avatar id={root_author ?? 'assistant'} name={name} />
        <span class="name" dir="auto">
          {name}
        </span>
        <time datetime={last_activity_at}>{shortTime(last_activity_at)}</time>
        <span class="excerpt" dir="auto">
          {root_excerpt || texts.value.messages.deleted}
        </span>
        <span class="count">{texts.value.threads.messages(message_count)}</span>
        {unread > 0 && <UnreadBadge count={unread} />}
      </a>
    </li>
  )
}
