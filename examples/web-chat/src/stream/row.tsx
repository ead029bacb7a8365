import { seenOf } from 'chat-server/client/parts'
import type { TimelineStoreMessage } from 'chat-server/client/store'
import { useEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { PlainText } from '../markdown/plain-text.tsx'
import { Boundary } from '../parts/boundary.tsx'
import { memo } from '../parts/memo.tsx'
import { texts } from '../texts/texts.ts'
import { type ArticleProps, MessageArticle } from '../threads/message.tsx'
import { ThreadLine } from './thread-line.tsx'

/** The first messages of threads, all messages, or the replies of a thread. */
export type StreamList = 'roots' | 'all' | 'replies'

export interface RowProps extends Omit<ArticleProps, 'message' | 'isNew'> {
  message: TimelineStoreMessage
  isTarget: boolean
  /** Whether the line of what is new is above it. */
  isFirstNew: boolean
  /** What the list consists of. */
  list: StreamList
  /** Whether it is read when its end was in view. */
  isWatched: boolean
  /** Whether it begins another thread of a talk. */
  isNext: boolean
}

/** A message of a stream, with its thread below it. It is read when its end was in view. */
export const StreamRow = memo(function StreamRow(props: RowProps) {
  const { message, isTarget, isFirstNew, isHead, list, isNext, isWatched } = props
  const { id, conversation_id, thread, parent_id, deleted_at } = message
  const row = useRef<HTMLLIElement>(null)
  const { observe } = seenOf(useApp().store)
  // It is read with the list that it is shown in.
  const mark = () => (isWatched ? observe(row.current!, message, { view: list }) : undefined)
  useEffect(mark, [id, isWatched])
  useEffect(() => void mark(), [message])
  return (
    <li ref={row} class="row" data-message-id={id} data-head={isHead} data-target={isTarget} tabIndex={-1}>
      {isNext && <p class="next-thread">{texts.value.stream.next_thread}</p>}
      {isFirstNew && <p class="unread-from">{texts.value.messages.new}</p>}
      {thread?.title && !deleted_at && parent_id === undefined && (
        <h3 class="thread-title" dir="auto">
          {thread.title}
        </h3>
      )}
      <Boundary subject={message} fallback={<PlainText text={message.content} />}>
        <MessageArticle {...props} isNew={false} />
      </Boundary>
      {list === 'roots' && thread !== undefined && thread.reply_count > 0 && (
        <ThreadLine conversation_id={conversation_id} root_id={id} thread={thread} />
      )}
    </li>
  )
})
