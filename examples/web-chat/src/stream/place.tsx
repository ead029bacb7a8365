import type { User } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useCallback, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { useReadable } from '../app/readable.ts'
import { goTo } from '../app/route.ts'
import { useNotices } from '../commands/notices.tsx'
import { usualAssistant } from '../compose/asked-assistant.ts'
import { Composer, type WrittenPost } from '../compose/composer.tsx'
import { runningOf } from '../compose/running.ts'
import { useQuote } from '../compose/use-quote.ts'
import { markPlaceRead } from '../conversations/mark-place-read.ts'
import { titleOf } from '../conversations/title.ts'
import { useCan } from '../conversations/use-can.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { showToast } from '../parts/toast.tsx'
import { texts } from '../texts/texts.ts'
import { authorOf } from '../threads/author.ts'
import { isRunning } from '../threads/is-running.ts'
import { lastEditableOf } from '../threads/last-own.ts'
import { TypingLine } from '../threads/typing-line.tsx'
import { MessageStream } from './stream.tsx'
import { useVariants } from './use-variants.ts'

const Closed = lazy(() => import('../compose/closed.tsx').then(({ Closed }) => Closed))
const Greeting = lazy(() => import('../conversations/greeting.tsx').then(({ Greeting }) => Greeting))

interface PlaceProps {
  conversation: OpenConversation
  user: User
  /** The message of the address. */
  message_id: string | undefined
}

/** A conversation as a stream, and the box below it. */
export function ConversationStream({ conversation, user, message_id }: PlaceProps) {
  const app = useApp()
  const { client, store, people, presence, features } = app
  const { id, policy, unread_replies = 0 } = conversation
  // A talk with the assistant shows all of its threads, one after another.
  const isTalk = conversation.layout === 'assistant'
  const part = store.conversation(id, isTalk ? { view: 'all' } : {})
  const view = useReadable(part)
  const variants = useVariants(view.messages)
  const notices = useNotices(id, undefined, conversation.joined === false)
  useKept(part, view, `/api/conversations/${id}/messages`, ({ messages }) => ({
    messages: messages.filter((message) => !message.pending && !isRunning(message)).slice(-MAX_KEPT),
  }))
  const [quoted, setQuoted] = useQuote(user.id, id, id)
  const [editing, setEditing] = useState<string>()
  const can = useCan(conversation)
  const { stream, threads } = texts.value
  const title = titleOf(conversation)
  const isOutside = conversation.joined === false
  // A talk goes on below the last answer.
  const canWrite = can.has('post') || (isTalk && can.has('reply'))
  const openThread = useCallback(
    ({ root_id }: StoreMessage) => goTo({ name: 'thread', conversation_id: id, root_id }),
    [id],
  )

  async function post(written: WrittenPost): Promise<void> {
    setQuoted(undefined)
    const more = quoted && { quote_id: quoted.id }
    const above = isTalk ? await lastAnswer() : undefined
    const parent = above && { root_id: above.root_id, parent_id: above.id }
    await store.post({ conversation_id: id, ...written, ...parent, ...more })
  }

  /** What is written next answers it; where it is too deep for that, it begins a thread. */
  async function lastAnswer(): Promise<StoreMessage | undefined> {
    if (view.has_newer) await part.jumpTo('newest')
    const last = variants
      .shownOf(part.getSnapshot().messages)
      .findLast((message) => !message.pending && !message.deleted_at && !isRunning(message))
    return last && last.depth < features.limits.max_depth ? last : undefined
  }

  function leave(): 'closed' | 'read' | undefined {
    if (editing === undefined && !quoted) return markPlaceRead(app, conversation) ? 'read' : undefined
    if (editing !== undefined) setEditing(undefined)
    else setQuoted(undefined)
    return 'closed'
  }

  /** A reply is in its thread, what is not there any more nowhere. */
  const onMissing = (message_id: string) =>
    void client.messages.get(message_id).then(
      ({ root_id, parent_id }) =>
        parent_id !== undefined &&
        goTo({ name: 'thread', conversation_id: id, root_id, message_id }, { replace: true }),
      () => showToast(threads.missing, { isError: true }),
    )

  return (
    <>
      <MessageStream
        part={part}
        view={view}
        variants={variants}
        notices={notices}
        label={stream.messages(title)}
        empty={can.has('invite') ? <Greeting conversation={conversation} /> : undefined}
        isOutside={isOutside}
        unread={isTalk ? view.unread : Math.max(0, view.unread - unread_replies)}
        list={isTalk ? 'all' : 'roots'}
        target={message_id}
        onMissing={onMissing}
        editing={editing}
        onEdit={setEditing}
        onEscape={leave}
        user_id={user.id}
        isFrozen={conversation.frozen_at !== undefined}
        can={can}
        hasReceipts={policy.receipts === 'on' && !isOutside}
        onReply={setQuoted}
        onThread={openThread}
      />
      <footer>
        <TypingLine conversation_id={id} />
        {!canWrite && <Closed conversation={conversation} act="post" />}
        {quoted && (
          <p class="replying">
            <span dir="auto">{stream.quoting(authorOf(quoted, people))}</span>
            <IconButton icon="close" label={stream.stop_quoting} onClick={() => setQuoted(undefined)} />
          </p>
        )}
        {canWrite && (
          <Composer
            user_id={user.id}
            conversation={conversation}
            place={id}
            label={stream.box(title)}
            placeholder={stream.box(title)}
            partner={conversation.direct && title}
            isTalk={isTalk}
            usual={usualAssistant(conversation, isTalk ? variants.shown : [])}
            can={can}
            running={runningOf(view.messages, user.id)}
            focus_key={quoted?.id}
            onSend={post}
            onEditLast={() => setEditing(lastEditableOf(variants.shown, user.id))}
            onTyping={() => presence.sendTyping(id)}
          />
        )}
      </footer>
    </>
  )
}
