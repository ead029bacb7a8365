import type { Message, Notice } from 'chat-server/client'
import type { MessagesView, MessageWindow } from 'chat-server/client/store'
import { type ComponentChildren, Fragment } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { NoticeRows, placeNotices } from '../commands/notices.tsx'
import { useMessageKeys } from '../keys/use-message-keys.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { usePaneEscape } from '../parts/escape.ts'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { dayName } from '../texts/time.ts'
import { useAnnouncements } from '../threads/announcements.ts'
import { lastOwnOf } from '../threads/last-own.ts'
import type { ArticleProps } from '../threads/message.tsx'
import { NearContext, useNearness } from '../threads/near.ts'
import { useAnchor } from './anchor.ts'
import { daysOf } from './groups.ts'
import { useNewLine } from './new-line.ts'
import { useRange } from './range.ts'
import { type StreamList, StreamRow } from './row.tsx'
import { StreamEmpty, StreamPills } from './signs.tsx'
import type { VariantsView } from './use-variants.ts'

type Shared = Pick<ArticleProps, 'user_id' | 'can' | 'isFrozen' | 'hasReceipts' | 'onReply' | 'onThread'>

interface StreamProps extends Shared {
  part: MessageWindow
  view: MessagesView
  /** Which of the messages of the view are shown. */
  variants: VariantsView
  /** The user's notices there, oldest first. */
  notices: readonly Notice[]
  /** What screen readers call it. */
  label: string
  /** What is shown while there is no message. */
  empty?: ComponentChildren
  /** Whether the user reads it without participating. */
  isOutside: boolean
  /** How many of its messages are unread. */
  unread: number
  /** What it consists of: in a talk, all messages. */
  list: StreamList
  /** By the ids of messages, what they answer. */
  answered?: ReadonlyMap<string, NonNullable<Message['quote']>>
  /** The message of the address, which is brought into view. */
  target: string | undefined
  /** The message of the address is not in it. */
  onMissing: (message_id: string) => void
  /** The message that is edited. */
  editing: string | undefined
  onEdit: (message_id: string | undefined) => void
  /** Acts on Escape. @returns what it did: what was open is closed, or all is read */
  onEscape?: () => 'closed' | 'read' | undefined
}

/** Until it is known where the stream opens. */
const NONE: readonly string[] = []

/** Messages by arrival, newest at the bottom: opens where the new ones begin, and stays at its end as it grows. */
export function MessageStream(props: StreamProps) {
  const {
    part,
    view,
    variants,
    notices,
    label,
    target,
    list,
    onMissing,
    editing,
    onEdit,
    onEscape,
    answered,
    isOutside,
    ...shared
  } = props
  const { status, error, has_older, has_newer } = view
  const { shown: messages, places, choose, reveal } = variants
  const { user_id } = shared
  const scroller = useRef<HTMLDivElement>(null)
  const [top, bottom] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)]
  const [isOpen, setOpen] = useState(false)
  // What the user marks as unread stays so for the visit, whatever comes into view.
  const [isHeld, setHeld] = useState(false)
  const { line, isDecided, begin, dismiss } = useNewLine(part, view, props.unread, target !== undefined)
  const [center, setCenter] = useState<{ id: string; at: 'start' | 'center' }>()
  const ids = useMemo(() => messages.map(({ id }) => id), [messages])
  const { from, to } = useRange(isDecided ? ids : NONE, center?.id ?? line?.id)
  const isWhole = from === 0 && to === ids.length
  const { isAtEnd, toEnd, toRow } = useAnchor(scroller, !has_newer && to === ids.length)
  const nearness = useNearness(scroller)
  const days = useMemo(() => daysOf(messages.slice(from, to), line?.id), [messages, from, to, line?.id])
  const placed = useMemo(
    () =>
      placeNotices(messages.slice(from, to), notices, {
        isStart: !has_older && from === 0,
        isEnd: !has_newer && to === ids.length,
      }),
    [messages, from, to, notices, has_older, has_newer],
  )
  const last_own = useMemo(() => lastOwnOf(messages, user_id), [messages])
  const rowOf = (id: string) => scroller.current?.querySelector(`[data-message-id="${id}"]`) ?? undefined

  // Opens at the message of the address, where the new ones begin, or at the end.
  useLayoutEffect(() => {
    if (!isDecided || isOpen || target !== undefined) return
    const first = line && !line.hasPill && ids.includes(line.id) ? line.id : undefined
    const row = first && rowOf(first)
    if (first && !row) return
    if (row) toRow(row, 'start')
    else toEnd()
    setOpen(true)
  }, [isDecided, isOpen, target, from, to])

  const goTo = useCallback(
    async (id: string, at: 'start' | 'center') => {
      if (!part.getSnapshot().messages.some((message) => message.id === id)) await part.jumpTo(id)
      const all = part.getSnapshot().messages
      const isHere = all.some((message) => message.id === id)
      if (!isHere) return false
      reveal(all, id)
      setCenter({ id, at })
      return true
    },
    [part],
  )
  useEffect(() => {
    if (target === undefined || !isDecided) return
    setOpen(true)
    void goTo(target, 'center').then((isHere) => isHere || onMissing(target))
  }, [target, isDecided])
  useLayoutEffect(() => {
    const row = center && rowOf(center.id)
    if (!row) return
    toRow(row, center.at)
    ;(row as HTMLElement).focus({ preventScroll: true })
    setCenter(undefined)
  }, [center, from, to, ids])

  // An own post comes into view, wherever that is.
  const own = messages.findLast(({ pending }) => pending)?.id
  useLayoutEffect(() => {
    if (own === undefined || !isOpen) return
    if (places.has(own)) setCenter({ id: own, at: 'center' })
    else toEnd()
  }, [own])

  useVisible(top, () => void part.loadOlder(), has_older && isOpen && from === 0)
  useVisible(bottom, () => void part.loadNewer(), has_newer && isOpen && isWhole)
  useAnnouncements(status === 'ready' && !has_newer ? messages : undefined, user_id)
  const seenEnd = useRef<string | undefined>(undefined)
  if (isAtEnd || seenEnd.current === undefined) seenEnd.current = ids.at(-1)
  const arrived = has_newer ? view.newer_count : ids.length - 1 - Math.max(ids.indexOf(seenEnd.current ?? ''), 0)

  // A link to where the address is already leads there again.
  useEffect(() => {
    const { current } = scroller
    const onClick = ({ target: at }: Event) =>
      target !== undefined && (at as Element).closest('a')?.hash === location.hash && void goTo(target, 'center')
    current?.addEventListener('click', onClick)
    return () => current?.removeEventListener('click', onClick)
  }, [target])

  useMessageKeys(scroller)
  usePaneEscape(scroller, () => {
    const done = onEscape?.()
    if (done === 'read') {
      dismiss()
      setHeld(false)
    }
    return done !== undefined
  })

  const markUnread = (id: string) => {
    begin(id)
    setHeld(true)
    return part.markUnread(id)
  }

  return (
    <div class="stream-place">
      <StreamPills
        line={line?.hasPill ? line : undefined}
        onLine={() => line && void goTo(line.id, 'start')}
        isAway={isOpen && status === 'ready' && !isAtEnd && ids.length > 0}
        arrived={arrived}
        onEnd={() => void (has_newer ? part.jumpTo('newest') : Promise.resolve()).then(toEnd)}
      />
      <div class="scroll stream" ref={scroller} data-open={isOpen}>
        <span class="list-edge" tabIndex={ids.length > 0 ? 0 : -1} />
        <div class="stream-list" role="log" aria-live="off" aria-label={label}>
          {has_older && <div ref={top} class="edge" />}
          {status === 'failed' && <ErrorNote error={error} onRetry={() => void part.reload()} />}
          {status === 'loading' && <Waiting kind="message" />}
          {status === 'ready' && ids.length === 0 && notices.length === 0 && (props.empty ?? <StreamEmpty />)}
          <NearContext.Provider value={nearness}>
            {placed.has('') && (
              <ol class="messages">
                <NoticeRows notices={placed.get('')} />
              </ol>
            )}
            {days.map(({ key, at, rows }) => (
              <section key={key} class="day">
                <p class="day-line">
                  <time datetime={at}>{dayName(at)}</time>
                </p>
                <ol class="messages">
                  {rows.map(({ message, isHead }) => (
                    <Fragment key={places.get(message.id)?.first ?? message.id}>
                      <StreamRow
                        {...shared}
                        message={message}
                        variants={places.get(message.id)}
                        onVariant={choose}
                        isHead={isHead}
                        list={list}
                        answered={answered?.get(message.id)}
                        isNext={
                          list === 'all' && message.parent_id === undefined && (has_older || message.id !== ids[0])
                        }
                        isTarget={message.id === target}
                        isFirstNew={message.id === line?.id}
                        isLastOwn={message.id === last_own}
                        isWatched={!isOutside && !isHeld}
                        isEditing={message.id === editing}
                        onEdit={onEdit}
                        onUnread={isOutside ? undefined : markUnread}
                      />
                      <NoticeRows notices={placed.get(message.id)} />
                    </Fragment>
                  ))}
                </ol>
              </section>
            ))}
          </NearContext.Provider>
          {has_newer && <div ref={bottom} class="edge below" />}
        </div>
        <span class="list-edge" tabIndex={-1} />
      </div>
    </div>
  )
}
