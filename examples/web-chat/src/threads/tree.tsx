import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { useReadable } from '../app/readable.ts'
import { NoticeRows, useNotices } from '../commands/notices.tsx'
import { useMessageKeys } from '../keys/use-message-keys.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { useAnnouncements } from './announcements.ts'
import { FirstUnread } from './first-unread.tsx'
import { useGrowing } from './growing.ts'
import { lastEditableOf, lastOwnOf } from './last-own.ts'
import { MessageRows } from './message-rows.tsx'
import { NearContext, useNearness } from './near.ts'
import { useReadMarker, useUnread } from './read-marker.ts'
import { isTalkOf, ReplyBox } from './reply-box.tsx'
import { ancestorsOf, rowsOf } from './rows.ts'
import { useShowTarget } from './show-target.ts'
import { useStickToEnd } from './stick-to-end.ts'
import { sharedOf, type ThreadViewProps } from './thread-stream.tsx'

/** A thread as a tree, and the box for replies. */
export function ThreadTree(props: ThreadViewProps) {
  const { part, conversation_id, root_id, message_id, conversation, user, quoted, onQuote, onEdit } = props
  const shared = sharedOf(props)
  const notices = useNotices(conversation_id, root_id, shared.isOutside)
  const { store } = useApp()
  const thread = store.thread(root_id)
  const view = useReadable(thread)
  const { messages, status, error, has_more } = view
  useKept(thread, view, `/api/threads/${root_id}/tree`, ({ messages }) => ({
    messages: messages.filter(({ pending }) => !pending).slice(0, MAX_KEPT),
  }))
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  // From where on the user has marked it as unread: for the visit, nothing of it is read.
  const [unread_from, setUnreadFrom] = useState<string>()
  const scroller = useRef<HTMLDivElement>(null)
  const end = useRef<HTMLDivElement>(null)
  useMessageKeys(scroller)
  const { unread, count, isCounted } = useUnread({ conversation_id, root_id, messages, has_more, user_id: user.id })
  const all = useMemo(() => rowsOf(messages, collapsed, unread), [messages, collapsed, unread])
  const shown = useGrowing(all.length)
  const rows = useMemo(() => all.slice(0, shown), [all, shown])
  const isRendered = shown === all.length
  const nearness = useNearness(scroller)
  useVisible(end, () => void thread.loadMore(), has_more && isRendered)
  const own = messages.findLast(({ pending }) => pending)?.id
  const hasOwn = rows.some(({ message }) => message.id === own)
  useStickToEnd(scroller, status === 'ready', has_more, message_id !== undefined, hasOwn ? own : undefined)
  const isMissing = useShowTarget({
    scroller,
    message_id,
    rows,
    isReady: status === 'ready' && isRendered,
    has_more,
    loadMore: thread.loadMore,
  })
  useAnnouncements(status === 'ready' && !has_more ? messages : undefined, user.id)
  const fresh = useReadMarker({
    scroller,
    root_id,
    unread,
    isReady: !shared.isOutside && !unread_from && isCounted && isRendered && !has_more && messages.length > 0,
  })
  const first = unread_from ?? all.find(({ message }) => fresh.has(message.id))?.message.id
  const markUnread = useCallback(
    (id: string) => {
      setUnreadFrom(id)
      return part.markUnread(id)
    },
    [part],
  )
  const last_own = useMemo(() => lastOwnOf(messages, user.id), [messages])
  // What is answered may be deleted meanwhile.
  useEffect(() => {
    if (quoted && messages.some(({ id, deleted_at }) => id === quoted.id && deleted_at)) onQuote(undefined)
  }, [messages])
  // An own post comes into view, wherever that is.
  useLayoutEffect(() => {
    if (own === undefined) return
    const above = ancestorsOf(messages, own)
    setCollapsed((before) => new Set([...before].filter((id) => !above.has(id))))
  }, [own])
  const toggle = useCallback((id: string) => {
    setCollapsed((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])

  const { threads, loading } = texts.value
  return (
    <>
      <div class="scroll" ref={scroller}>
        <span class="list-edge" tabIndex={messages.length > 0 ? 0 : -1} />
        {status === 'failed' && <ErrorNote error={error} onRetry={() => void thread.reload()} />}
        {status === 'loading' && <Waiting kind="message" />}
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
          <div role="log" aria-live="off" aria-label={roomTexts.value.thread.messages}>
            <ol class="messages">
              <MessageRows
                rows={rows}
                fresh={fresh}
                first={first}
                target={message_id}
                last_own={last_own}
                {...shared.rows}
                onUnread={shared.isOutside ? undefined : markUnread}
                onToggle={toggle}
              />
              {isRendered && !has_more && <NoticeRows notices={notices} />}
            </ol>
          </div>
        </NearContext.Provider>
        {has_more && isRendered && (
          <div ref={end} class="quiet">
            {loading}
          </div>
        )}
        <span class="list-edge" tabIndex={-1} />
      </div>
      {messages[0] && conversation && (
        <ReplyBox
          {...shared.box}
          conversation={conversation}
          messages={messages}
          isTalk={isTalkOf(messages, user.id)}
          onEditLast={() => onEdit(lastEditableOf(messages, user.id))}
        />
      )}
    </>
  )
}
