import type { Attachment, User } from 'chat-server/client'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { focusIn } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { Composer } from '../threads/composer.tsx'
import { ThreadList } from '../threads/list.tsx'
import { TypingLine } from '../threads/typing-line.tsx'
import { ConversationMenu } from './menu.tsx'
import { titleOf } from './title.ts'
import { mayWrite, type OpenConversation } from './use-conversation.ts'

const PeopleDialog = lazy(() => import('./people.tsx').then(({ PeopleDialog }) => PeopleDialog))

interface PaneProps {
  id: string
  /** `undefined` until it is read. */
  conversation: OpenConversation | undefined
  user: User
  /** The thread that is open beside it. */
  root_id: string | undefined
}

/** Puts the focus on the card of the thread that is closed: what had it is no longer there. */
function useFocusAfter(pane: RefObject<HTMLElement | null>, root_id: string | undefined): void {
  const before = useRef(root_id)
  useLayoutEffect(() => {
    const closed = before.current
    before.current = root_id
    if (closed === undefined || root_id !== undefined || document.activeElement !== document.body) return
    pane.current?.querySelector<HTMLElement>(`.thread-card[href$="/t/${closed}"]`)?.focus()
  }, [root_id])
}

/** A conversation: its threads, latest activity first, and a composer that begins one. */
export function ConversationPane({ id, conversation, user, root_id }: PaneProps) {
  const { store, people, presence } = useApp()
  const [hasPeople, setPeople] = useState(false)
  const pane = useRef<HTMLElement>(null)
  const { composer, back } = texts.value
  // The count changes with who takes part: then there may be a new name.
  useEffect(() => void people.load(id, conversation?.with).catch(() => {}), [id, conversation?.participant_count])
  // The thread beside it takes the focus, if there is one.
  useLayoutEffect(() => void (root_id === undefined && focusIn(pane.current)), [])
  useFocusAfter(pane, root_id)

  async function begin(content: string, role: 'user' | 'assistant', attachments: Attachment[]): Promise<void> {
    const files = attachments.length > 0 && { attachments }
    const posted = await store.post({ conversation_id: id, content, role, ...files })
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
        {conversation && <ConversationMenu conversation={conversation} user={user} />}
      </header>
      <ThreadList conversation_id={id} selected={root_id} />
      <footer>
        <TypingLine conversation_id={id} />
        {conversation && !mayWrite(conversation, user) ? (
          <p class="quiet">{composer.viewer}</p>
        ) : (
          <Composer
            user_id={user.id}
            conversation_id={id}
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
