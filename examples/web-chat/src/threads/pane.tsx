import { signal } from '@preact/signals'
import type { User } from 'chat-server/client'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { useQuote } from '../compose/use-quote.ts'
import { titleOf } from '../conversations/title.ts'
import { mayWrite, useCan } from '../conversations/use-can.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { useEscape } from '../parts/escape.ts'
import { focusIn } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { ThreadMenu } from './thread-menu.tsx'
import { ThreadStream } from './thread-stream.tsx'
import { TitleForm } from './title-form.tsx'
import { withRoot } from './with-root.ts'

const ThreadTree = lazy(() => import('./tree.tsx').then(({ ThreadTree }) => ThreadTree))

/** Whether threads are shown as trees, for this visit. */
const isTree = signal(false)

interface PaneProps {
  conversation_id: string
  root_id: string
  /** The message of the address, which is brought into view. */
  message_id: string | undefined
  conversation: OpenConversation | undefined
  user: User
}

/** A thread beside its conversation: its messages by arrival, or as a tree, and the box for replies. */
export function ThreadPane({ conversation_id, root_id, message_id, conversation, user }: PaneProps) {
  const { store } = useApp()
  const part = useMemo(() => withRoot(store.replies(root_id)), [root_id])
  const view = useReadable(part)
  const { root, status } = view
  const [quoted, setQuoted] = useQuote(user.id, conversation_id, root_id)
  const [editing, setEditing] = useState<string>()
  const [isNaming, setNaming] = useState(false)
  const pane = useRef<HTMLElement>(null)
  const can = useCan(conversation)
  const canReply = can.has('reply')
  useLayoutEffect(() => void (message_id === undefined && focusIn(pane.current)), [status === 'loading', canReply])
  const close = () => goTo({ name: 'conversation', conversation_id })
  useEscape(() => {
    if (editing !== undefined) setEditing(undefined)
    else if (quoted) setQuoted(undefined)
    else close()
  })

  const isAuthor = root?.author_user_id === user.id || root?.requested_by === user.id
  const mayName = can.has('policy') || (isAuthor && mayWrite(can))
  const { threads, back, close: closing } = texts.value
  const title = root?.thread?.title
  const href = hrefOf({ name: 'conversation', conversation_id })
  const View = isTree.value ? ThreadTree : ThreadStream
  return (
    <section ref={pane} class="pane thread" aria-labelledby="thread-title">
      <header>
        <a class="icon-button back" href={href} aria-label={back}>
          <Icon name="back" />
        </a>
        {isNaming ? (
          <TitleForm root_id={root_id} title={title} onDone={() => setNaming(false)} />
        ) : (
          <h2 id="thread-title" tabIndex={-1} dir="auto">
            {title ?? threads.thread}
            {conversation && (
              <small>
                <bdi>{titleOf(conversation)}</bdi>
              </small>
            )}
          </h2>
        )}
        {root && !root.deleted_at && mayName && !isNaming && (
          <IconButton icon="edit" label={roomTexts.value.thread.edit_title} onClick={() => setNaming(true)} />
        )}
        {root && (
          <ThreadMenu
            root={root}
            isOutside={conversation?.joined === false}
            isTree={isTree.value}
            onTree={() => {
              isTree.value = !isTree.value
            }}
            onClose={close}
          />
        )}
        <a class="icon-button close" href={href} aria-label={closing} title={closing}>
          <Icon name="close" />
        </a>
      </header>
      <View
        part={part}
        view={view}
        root_id={root_id}
        message_id={message_id}
        conversation_id={conversation_id}
        conversation={conversation}
        user={user}
        can={can}
        quoted={quoted}
        onQuote={setQuoted}
        editing={editing}
        onEdit={setEditing}
      />
    </section>
  )
}
