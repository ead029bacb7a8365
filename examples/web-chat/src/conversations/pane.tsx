import type { User } from 'chat-server/client'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { hrefOf } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { focusIn } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { ConversationStream } from '../stream/place.tsx'
import { texts } from '../texts/texts.ts'
import { titleOf } from './title.ts'
import type { OpenConversation } from './use-conversation.ts'

const Topics = lazy(() => import('../threads/topics.tsx').then(({ Topics }) => Topics))

interface PaneProps {
  id: string
  /** `undefined` until it is read. */
  conversation: OpenConversation | undefined
  /** Why it could not be read. */
  error: unknown
  onRetry: () => void
  user: User
  /** The thread that is open beside it. */
  root_id: string | undefined
  /** Whether its details are open beside it. */
  hasDetails: boolean
  /** The message of the address. */
  message_id: string | undefined
}

/** Puts the focus on what has opened the thread that is closed: what had it is no longer there. */
function useFocusAfter(pane: RefObject<HTMLElement | null>, root_id: string | undefined): void {
  const before = useRef(root_id)
  useLayoutEffect(() => {
    const closed = before.current
    before.current = root_id
    if (closed === undefined || root_id !== undefined || document.activeElement !== document.body) return
    const opener = pane.current?.querySelector<HTMLElement>(`a[href$="/t/${closed}"]`)
    if (opener) opener.focus()
    else focusIn(pane.current)
  }, [root_id])
}

/** Puts the focus back on what has opened the details once they are closed. */
function useFocusAfterDetails(pane: RefObject<HTMLElement | null>, isOpen: boolean): void {
  const before = useRef<{ opener: Element | null }>(undefined)
  useLayoutEffect(() => {
    const { opener } = before.current ?? {}
    const wasOpen = before.current !== undefined
    before.current = isOpen ? { opener: document.activeElement } : undefined
    if (isOpen || !wasOpen || document.activeElement !== document.body) return
    if (opener instanceof HTMLElement && pane.current!.contains(opener)) opener.focus()
    else focusIn(pane.current)
  }, [isOpen])
}

/** A conversation, as its layout shows it. */
export function ConversationPane(props: PaneProps) {
  const { id, conversation, error, user, root_id, hasDetails, message_id } = props
  const { people, features } = useApp()
  const pane = useRef<HTMLElement>(null)
  const { back, conversations } = texts.value
  // The count changes with who takes part: then there may be a new name.
  const changes = [id, conversation?.participant_count, people.outdated.value]
  useEffect(() => void people.load(id, conversation?.with).catch(() => {}), changes)
  // The thread beside it takes the focus, if there is one, and so does the message of the address.
  const isRead = conversation !== undefined
  const isAlone = root_id === undefined && message_id === undefined && !hasDetails
  useLayoutEffect(() => void (isAlone && focusIn(pane.current)), [isRead, conversation?.joined])
  useFocusAfter(pane, root_id)
  useFocusAfterDetails(pane, hasDetails)

  return (
    <section ref={pane} class="pane conversation" aria-labelledby="conversation-title">
      <header>
        <a class="icon-button back" href={hrefOf({ name: 'home' })} aria-label={back}>
          <Icon name="back" />
        </a>
        <h2 id="conversation-title" tabIndex={-1} dir="auto">
          {conversation ? titleOf(conversation) : '…'}
        </h2>
        {conversation && conversation.joined !== false && features.search && (
          <a
            class="icon-button"
            href={hrefOf({ name: 'search', q: '', in: id })}
            aria-label={texts.value.switcher.search_in}
            title={texts.value.switcher.search_in}
          >
            <Icon name="search" />
          </a>
        )}
        {conversation && (
          <a class="button people-button" href={hrefOf({ name: 'details', conversation_id: id, tab: 'people' })}>
            <Icon name="people" />
            <span aria-hidden="true">{conversation.participant_count}</span>
            <span class="hidden">{conversations.people(conversation.participant_count)}</span>
          </a>
        )}
        {conversation && (
          <a
            class="icon-button details-button"
            href={hrefOf({ name: 'details', conversation_id: id, tab: 'about' })}
            aria-label={conversations.details}
            title={conversations.details}
          >
            <Icon name="settings" />
          </a>
        )}
      </header>
      {conversation === undefined ? (
        <div class="scroll">
          {error === undefined ? <Waiting kind="message" /> : <ErrorNote error={error} onRetry={props.onRetry} />}
        </div>
      ) : conversation.layout === 'topics' ? (
        <Topics conversation={conversation} user={user} root_id={root_id} message_id={message_id} />
      ) : (
        <ConversationStream conversation={conversation} user={user} message_id={message_id} />
      )}
    </section>
  )
}
