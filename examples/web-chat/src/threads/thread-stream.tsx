import type { User } from 'chat-server/client'
import type { MessagesView, MessageWindow, StoreMessage } from 'chat-server/client/store'
import { useEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { goTo } from '../app/route.ts'
import { useNotices } from '../commands/notices.tsx'
import type { Can } from '../conversations/use-can.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { showToast } from '../parts/toast.tsx'
import { MessageStream } from '../stream/stream.tsx'
import { useVariants } from '../stream/use-variants.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { useAnswered } from './answered.ts'
import { isRunning } from './is-running.ts'
import { lastEditableOf } from './last-own.ts'
import { isTalkOf, ReplyBox } from './reply-box.tsx'

/** A thread, in whichever way it is shown. */
export interface ThreadViewProps {
  /** Its messages by arrival. */
  part: MessageWindow
  view: MessagesView
  conversation_id: string
  root_id: string
  /** The message of the address, which is brought into view. */
  message_id: string | undefined
  conversation: OpenConversation | undefined
  user: User
  can: Can
  /** The message that is answered; without one, the thread is. */
  quoted: StoreMessage | undefined
  onQuote: (message: StoreMessage | undefined) => void
  /** The id of the message that is edited. */
  editing: string | undefined
  onEdit: (message_id: string | undefined) => void
}

/** What its messages get, and its box, in whichever way it is shown. */
export function sharedOf({ conversation, user, can, root_id, quoted, editing, onQuote, onEdit }: ThreadViewProps) {
  const isOutside = conversation?.joined === false
  return {
    isOutside,
    rows: {
      editing,
      onEdit,
      user_id: user.id,
      isFrozen: conversation?.frozen_at !== undefined,
      can,
      hasReceipts: conversation?.policy.receipts === 'on' && !isOutside,
      onReply: onQuote,
    },
    box: { root_id, target: quoted, can, user, onTarget: onQuote },
  }
}

/** The messages of a thread by arrival, and the box for replies. */
export function ThreadStream(props: ThreadViewProps) {
  const { part, view, conversation_id, root_id, message_id, conversation, user, quoted, onQuote, onEdit } = props
  const { rows, box, isOutside } = sharedOf(props)
  const { client } = useApp()
  const { messages, root, has_older, has_newer, unread } = view
  const variants = useVariants(messages)
  const notices = useNotices(conversation_id, root_id, isOutside)
  const answered = useAnswered(root_id, messages)
  useKept(part, view, `/api/threads/${root_id}/messages`, () => ({
    conversation_id,
    root,
    messages: messages
      .filter((message) => message.id !== root_id && !message.pending && !isRunning(message))
      .slice(-MAX_KEPT),
    ...(has_older && { next_before: messages[0]?.id }),
  }))
  useEffect(() => {
    if (quoted && messages.some(({ id, deleted_at }) => id === quoted.id && deleted_at)) onQuote(undefined)
  }, [messages])
  // Where the end is not read, it is not known who has written last.
  const isTalk = useRef(false)
  if (!has_newer) isTalk.current = isTalkOf(variants.shown, user.id)

  async function newest(): Promise<readonly StoreMessage[]> {
    if (view.has_newer) await part.jumpTo('newest')
    return variants.shownOf(part.getSnapshot().messages)
  }

  /** It may be in another thread. */
  const onMissing = (id: string) =>
    void client.messages.get(id).then(
      (message) =>
        message.root_id !== root_id &&
        goTo({ name: 'thread', conversation_id, root_id: message.root_id, message_id: id }, { replace: true }),
      () => showToast(texts.value.threads.missing, { isError: true }),
    )

  return (
    <>
      <MessageStream
        part={part}
        view={view}
        variants={variants}
        notices={notices}
        answered={answered}
        label={roomTexts.value.thread.messages}
        isOutside={isOutside}
        unread={unread}
        list="replies"
        target={message_id}
        onMissing={onMissing}
        {...rows}
      />
      {root && conversation && (
        <ReplyBox
          {...box}
          conversation={conversation}
          messages={variants.shown}
          newest={newest}
          isTalk={isTalk.current}
          onEditLast={() => onEdit(lastEditableOf(variants.shown, user.id))}
        />
      )}
    </>
  )
}
