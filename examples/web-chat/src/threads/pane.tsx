import type { User } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { mayWrite, type OpenConversation } from '../conversations/use-conversation.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { focusIn } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { useVisible } from '../parts/visible.ts'
import { texts } from '../texts/texts.ts'
import { useAnnouncements } from './announcements.ts'
import { FirstUnread } from './first-unread.tsx'
import { useGrowing } from './growing.ts'
import { MessageRows } from './message-rows.tsx'
import { NearContext, useNearness } from './near.ts'
import { useReadMarker } from './read-marker.ts'
import { ReplyBox } from './reply-box.tsx'
import { lastOwnOf, rowsOf } from './rows.ts'
import { useShowTarget } from './show-target.ts'
import { useStickToEnd } from './stick-to-end.ts'

/** A thread as a tree, and a composer for replies. */
export function ThreadPane({
  conversation_id,
  root_id,
  message_id,
  conversation,
  user,
}: {
  conversation_id: string
  root_id: string
  /** The message of the address, which is brought into view. */
  message_id: string | undefined
  conversation: OpenConversation | undefined
  user: User
}) {
  const { store } = useApp()
  const thread = store.thread(root_id)
  const view = useReadable(thread)
  const { messages, status, error, has_more } = view
  useKept(thread, view, `/api/threads/${root_id}/tree`, ({ messages }) => ({
    messages: messages.filter(({ pending }) => !pending).slice(0, MAX_KEPT),
  }))
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const [target, setTarget] = useState<StoreMessage>()
  const [editing, setEditing] = useState<string>()
  const all = useMemo(() => rowsOf(messages, collapsed), [messages, collapsed])
  const shown = useGrowing(all.length)
  const rows = useMemo(() => all.slice(0, shown), [all, shown])
  const isRendered = shown === all.length
  const scroller = useRef<HTMLDivElement>(null)
  const end = useRef<HTMLDivElement>(null)
  const pane = useRef<HTMLElement>(null)
  const nearness = useNearness(scroller)
  useVisible(end, () => void thread.loadMore(), has_more && isRendered)
  useStickToEnd(scroller, status === 'ready', has_more, message_id !== undefined, messages)
  const isMissing = useShowTarget({
    scroller,
    message_id,
    rows,
    isReady: status === 'ready' && isRendered,
    has_more,
    loadMore: thread.loadMore,
  })
  useAnnouncements(messages, has_more, user.id)
  const { fresh, count } = useReadMarker({
    scroller,
    conversation_id,
    root_id,
    messages,
    isRendered,
    has_more,
    user_id: user.id,
  })
  const first = all.find(({ message }) => fresh.has(message.id))?.message.id
  const last_own = useMemo(() => lastOwnOf(messages, user.id), [messages])
  const canWrite = mayWrite(conversation, user)
  useLayoutEffect(() => void (message_id === undefined && focusIn(pane.current)), [status === 'loading', canWrite])
  // What is answered may be deleted meanwhile.
  useEffect(() => {
    if (target && !messages.some(({ id, deleted_at }) => id === target.id && !deleted_at)) setTarget(undefined)
  }, [messages])
  const toggle = useCallback((id: string) => {
    setCollapsed((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])

  const { threads, back, close, loading } = texts.value
  const href = hrefOf({ name: 'conversation', conversation_id })
  return (
    <section ref={pane} class="pane thread" aria-labelledby="thread-title">
      <header>
        <a class="icon-button back" href={href} aria-label={back}>
          <Icon name="back" />
        </a>
        <h2 id="thread-title" tabIndex={-1}>
          {threads.thread}
          {conversation && (
            <small>
              <bdi>{titleOf(conversation)}</bdi>
            </small>
          )}
        </h2>
        <a class="icon-button close" href={href} aria-label={close} title={close}>
          <Icon name="close" />
        </a>
      </header>
      <div class="scroll" ref={scroller}>
        {status === 'failed' && <ErrorNote error={error} />}
        {status === 'loading' && <p class="quiet">{loading}</p>}
        {isMissing && (
          <p class="quiet" role="status">
            {threads.missing}
          </p>
        )}
        <FirstUnread
          scroller={scroller}
          rows={rows}
          first={first}
          count={count}
          has_more={has_more}
          loadMore={thread.loadMore}
        />
        <NearContext.Provider value={nearness}>
          <ol class="messages">
            <MessageRows
              rows={rows}
              fresh={fresh}
              first={first}
              target={message_id}
              last_own={last_own}
              editing={editing}
              onEdit={setEditing}
              user_id={user.id}
              role={conversation?.role}
              canWrite={canWrite}
              hasReceipts={conversation?.policy.receipts === 'on'}
              onReply={setTarget}
              onToggle={toggle}
            />
          </ol>
        </NearContext.Provider>
        {has_more && isRendered && (
          <div ref={end} class="quiet">
            {loading}
          </div>
        )}
      </div>
      {messages[0] && conversation && (
        <ReplyBox
          conversation={conversation}
          messages={messages}
          target={target}
          canWrite={canWrite}
          user={user}
          onTarget={setTarget}
        />
      )}
    </section>
  )
}
