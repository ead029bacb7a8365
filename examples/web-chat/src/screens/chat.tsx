import type { User } from 'chat-server/client'
import { useEffect } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { keepLastPlace } from '../app/last-place.ts'
import { hasOwnSignIn } from '../app/own-sign-in.ts'
import { useReadable } from '../app/readable.ts'
import { ConversationPane } from '../conversations/pane.tsx'
import { Sidebar } from '../conversations/sidebar.tsx'
import { titleOf } from '../conversations/title.ts'
import { useConversation } from '../conversations/use-conversation.ts'
import { offersAlerts } from '../inbox/alerts.ts'
import { loadMarkdown } from '../markdown/lazy.tsx'
import { Announcer } from '../parts/announcer.tsx'
import { typeIntoBox } from '../parts/focus.ts'
import { lazy } from '../parts/lazy.tsx'
import { Toast } from '../parts/toast.tsx'
import { shownProfile } from '../people/shown-profile.ts'
import { SwitcherPlace } from '../switch/switch-button.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { UpdateNote } from './update-note.tsx'

const ThreadPane = lazy(() => import('../threads/pane.tsx').then(({ ThreadPane }) => ThreadPane))
const Details = lazy(() => import('../details/pane.tsx').then(({ DetailsPane }) => DetailsPane))
const Account = lazy(() => import('../account/account-pane.tsx').then(({ AccountPane }) => AccountPane))
const Search = lazy(() => import('../search/search-pane.tsx').then(({ SearchPane }) => SearchPane))
const Inbox = lazy(() => import('../inbox/inbox-pane.tsx').then(({ InboxPane }) => InboxPane))
const Followed = lazy(() => import('../threads/followed-pane.tsx').then(({ FollowedPane }) => FollowedPane))
const AlertsOffer = lazy(() => import('../inbox/alerts-offer.tsx').then(({ AlertsOffer }) => AlertsOffer))
const ProfileCard = lazy(() => import('../people/profile-card.tsx').then(({ ProfileCard }) => ProfileCard))
const Drafts = lazy(() => import('../compose/drafts-pane.tsx').then(({ DraftsPane }) => DraftsPane))
const GuestNote = lazy(() => import('./guest-note.tsx').then(({ GuestNote }) => GuestNote))
const NoPlace = lazy(() => import('./no-place.tsx').then(({ NoPlace }) => NoPlace))
const Browse = lazy(() => import('../rooms/browse-pane.tsx').then(({ BrowsePane }) => BrowsePane))
const Administration = lazy(() =>
  import('../administration/administration-pane.tsx').then(({ AdministrationPane }) => AdministrationPane),
)

/** The chat: conversations, the threads of one of them, and one of these; as many side by side as there is room for. */
export function Chat({ user }: { user: User }) {
  const app = useApp()
  const { store, session, route } = app
  const connection = useReadable(store.connection)
  const at = route.value
  const conversation_id = 'conversation_id' in at ? at.conversation_id : undefined
  const root_id = at.name === 'thread' ? at.root_id : undefined
  const message_id = at.name === 'conversation' || at.name === 'thread' ? at.message_id : undefined
  const { conversation, error, reload } = useConversation(conversation_id)
  useTitle(conversation && titleOf(conversation))
  useEffect(() => {
    if (conversation && conversation.joined !== false) keepLastPlace(user.id, conversation.id)
  }, [conversation?.id])
  useEffect(loadMarkdown, [])
  useEffect(typeIntoBox, [])
  // By Back, the user leaves what it was opened from.
  useEffect(() => {
    shownProfile.value = undefined
  }, [at])
  useEffect(() => {
    const end = new AbortController()
    if (matchMedia('(pointer: coarse)').matches)
      void import('../threads/long-press.ts').then(({ followLongPresses }) => followLongPresses(end.signal))
    return () => end.abort()
  }, [])
  useEffect(() => {
    if (connection.status === 'ended' && connection.error === undefined) session.end()
  }, [connection])

  return (
    <main
      class="chat"
      data-pane={
        root_id
          ? 'thread'
          : at.name === 'details'
            ? at.name
            : conversation_id
              ? 'conversation'
              : at.name === 'home' || at.name === 'join'
                ? 'list'
                : at.name
      }
    >
      <h1 class="hidden">{app.brand.name}</h1>
      <div class="banners">
        <ConnectionBanner connection={connection} />
        <UpdateNote />
        {user.kind === 'guest' && hasOwnSignIn(app) && <GuestNote />}
        {offersAlerts.value && <AlertsOffer />}
      </div>
      <Sidebar user={user} selected={conversation_id} />
      {at.name === 'account' ? (
        <Account tab={at.tab} id={at.id} user={user} />
      ) : at.name === 'administration' ? (
        <Administration route={at} user={user} />
      ) : at.name === 'search' ? (
        <Search route={at} user={user} />
      ) : at.name === 'inbox' ? (
        <Inbox tab={at.tab} />
      ) : at.name === 'threads' ? (
        <Followed />
      ) : at.name === 'drafts' ? (
        <Drafts user={user} />
      ) : at.name === 'browse' ? (
        <Browse />
      ) : conversation_id === undefined ? (
        <NoPlace user={user} />
      ) : (
        <ConversationPane
          key={conversation_id}
          id={conversation_id}
          conversation={conversation}
          error={error}
          onRetry={reload}
          user={user}
          root_id={root_id}
          hasDetails={at.name === 'details'}
          message_id={root_id === undefined ? message_id : undefined}
        />
      )}
      {conversation_id !== undefined && root_id !== undefined && (
        <ThreadPane
          key={root_id}
          conversation_id={conversation_id}
          root_id={root_id}
          message_id={message_id}
          conversation={conversation}
          user={user}
        />
      )}
      {at.name === 'details' && (
        <Details
          key={at.conversation_id}
          conversation_id={at.conversation_id}
          conversation={conversation}
          error={error}
          onRetry={reload}
          tab={at.tab}
          user={user}
        />
      )}
      <SwitcherPlace />
      {shownProfile.value && <ProfileCard {...shownProfile.value} />}
      <Announcer />
      <Toast />
    </main>
  )
}

/** The title of the window: how much in the inbox is unread, where one is, and whose chat it is. */
function useTitle(conversation: string | undefined): void {
  const { store, brand } = useApp()
  const notifications = useReadable(store.unreadNotifications)
  useEffect(() => {
    const mark = notifications > 0 ? `(${notifications}) ` : ''
    document.title = mark + (conversation ? `${conversation} – ${brand.name}` : brand.name)
  }, [notifications, conversation])
}
