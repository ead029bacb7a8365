import type { User } from 'chat-server/client'
import type { Readable, ThreadView } from 'chat-server/client/store'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { attempt } from '../app/attempt.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo } from '../app/route.ts'
import { Composer, type WrittenPost } from '../compose/composer.tsx'
import { keepDraft, readDraft } from '../compose/drafts.ts'
import { runningOf } from '../compose/running.ts'
import { markPlaceRead } from '../conversations/mark-place-read.ts'
import { titleOf } from '../conversations/title.ts'
import { useCan } from '../conversations/use-can.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { usePaneEscape } from '../parts/escape.ts'
import { focusIn } from '../parts/focus.ts'
import { lazy } from '../parts/lazy.tsx'
import { showToast } from '../parts/toast.tsx'
import { topicsTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { ThreadList } from './list.tsx'
import { TypingLine } from './typing-line.tsx'

const Closed = lazy(() => import('../compose/closed.tsx').then(({ Closed }) => Closed))
const Greeting = lazy(() => import('../conversations/greeting.tsx').then(({ Greeting }) => Greeting))

const NO_THREAD: Readable<ThreadView | undefined> = {
  getSnapshot: () => undefined,
  getServerSnapshot: () => undefined,
  subscribe: () => () => {},
}

/** Where the tab keeps which thread was begun last by a question. */
const keyOf = (conversation_id: string) => `chat:asked:${conversation_id}`

/** The longest title of a thread, in characters. */
const MAX_TITLE = 200

interface TopicsProps {
  conversation: OpenConversation
  user: User
  /** The thread that is open beside it. */
  root_id: string | undefined
  /** The message of the address. */
  message_id: string | undefined
}

/** A composer that begins a thread, and the threads of a conversation, latest activity first. */
export function Topics({ conversation, user, root_id, message_id }: TopicsProps) {
  const app = useApp()
  const { client, store, presence } = app
  const { id, layout_unset } = conversation
  const can = useCan(conversation)
  const { composer, stream } = texts.value
  // The thread of the last question, whose answer can be stopped here.
  const [asked, setAsked] = useState(() => attempt(() => sessionStorage.getItem(keyOf(id))) ?? undefined)
  const [title, setTitle] = useState(() => readDraft(user.id, id)?.topic ?? '')
  const { messages = [] } = useReadable(asked === undefined ? NO_THREAD : store.thread(asked)) ?? {}

  const box = useRef<HTMLDivElement>(null)
  usePaneEscape(box, () => markPlaceRead(app, conversation))
  // Where this is loaded after the pane has the focus, its title has it.
  useLayoutEffect(() => {
    if (document.activeElement?.id === 'conversation-title') focusIn(box.current!.closest('.pane'))
  }, [])

  function name(topic: string): void {
    setTitle(topic)
    keepDraft(user.id, id, { conversation_id: id, topic })
  }

  async function begin(written: WrittenPost): Promise<void> {
    const named = title.trim() !== '' && { title: title.trim() }
    name('')
    const posted = await store.post({ conversation_id: id, ...written, ...named })
    if (!posted || written.role !== 'assistant') return
    setAsked(posted.root_id)
    attempt(() => sessionStorage.setItem(keyOf(id), posted.root_id))
    goTo({ name: 'thread', conversation_id: id, root_id: posted.root_id })
  }

  // A message is shown in its thread.
  useEffect(() => {
    if (message_id === undefined) return
    client.messages.get(message_id).then(
      (message) =>
        goTo({ name: 'thread', conversation_id: id, root_id: message.root_id, message_id }, { replace: true }),
      () => showToast(texts.value.threads.missing, { isError: true }),
    )
  }, [message_id])

  return (
    <>
      <div class="topics-box" ref={box}>
        {layout_unset && can.has('policy') && <LayoutOffer id={id} />}
        {can.has('post') ? (
          <>
            <input
              class="topic-title"
              aria-label={topicsTexts.value.title}
              placeholder={topicsTexts.value.title}
              maxLength={MAX_TITLE}
              autocomplete="off"
              dir="auto"
              value={title}
              onInput={(event) => name(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.isComposing) return
                event.preventDefault()
                event.currentTarget.parentElement!.querySelector('textarea')!.focus()
              }}
            />
            <Composer
              user_id={user.id}
              conversation={conversation}
              place={id}
              label={stream.box(titleOf(conversation))}
              placeholder={composer.thread}
              isTalk={false}
              usual={conversation.assistant?.key}
              can={can}
              running={runningOf(messages, user.id)}
              onSend={begin}
              onTyping={() => presence.sendTyping(id)}
            />
          </>
        ) : (
          <Closed conversation={conversation} act="post" />
        )}
        <TypingLine conversation_id={id} />
      </div>
      <ThreadList
        conversation_id={id}
        user_id={user.id}
        selected={root_id}
        empty={can.has('invite') ? <Greeting conversation={conversation} /> : undefined}
      />
    </>
  )
}

/** For a conversation of before, whose layout nobody has chosen: either choice ends the offer, for all. */
function LayoutOffer({ id }: { id: string }) {
  const { client } = useApp()
  const { as_stream, keep_topics } = topicsTexts.value
  const { run, isRunning, error } = useAction((layout: 'stream' | 'topics') =>
    client.conversations.rename(id, { layout }),
  )
  return (
    <div class="layout-offer">
      <button type="button" class="link" disabled={isRunning} onClick={() => void run('stream')}>
        {as_stream}
      </button>
      {' · '}
      <button type="button" class="link" disabled={isRunning} onClick={() => void run('topics')}>
        {keep_topics}
      </button>
      <ErrorNote error={error} />
    </div>
  )
}
