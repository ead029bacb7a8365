import type { Capabilities, User } from 'chat-server/client'
import type { ComponentType } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { DETAILS_TABS, type DetailsTab, goTo, hrefOf } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useEscape } from '../parts/escape.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { About } from './about.tsx'
import { Files } from './files.tsx'
import { InviteLinks } from './invite-links.tsx'
import { manages } from './managing.ts'
import { Notifications } from './notifications.tsx'
import { People } from './people.tsx'
import { Pins } from './pins.tsx'
import { Policies } from './policies.tsx'

const Integrations = lazy(() => import('./integrations.tsx').then(({ Integrations }) => Integrations))

/** What each tab gets. */
export interface TabProps {
  conversation: OpenConversation
  user: User
}

const TABS: Record<DetailsTab, ComponentType<TabProps>> = {
  about: About,
  people: People,
  pins: Pins,
  files: Files,
  notifications: Notifications,
  policies: Policies,
  invites: InviteLinks,
  integrations: Integrations,
}

/** When tabs are offered that are not always. */
type Offer = (
  can: OpenConversation['can'],
  features: Capabilities,
  place: { isOutside: boolean; isDirect: boolean; isManaged: boolean },
) => boolean

const OFFERED: Partial<Record<DetailsTab, Offer>> = {
  // They are searched for, which finds nothing where one does not participate.
  files: (_, { search, attachments }, { isOutside }) => search && attachments !== undefined && !isOutside,
  notifications: (_can, _features, { isOutside }) => !isOutside,
  policies: (can) => can.some((act) => act === 'policy' || act === 'publish' || act === 'freeze'),
  invites: (can) => can.includes('invite'),
  // Between two people there is no place for another one.
  integrations: (_can, { bots, hooks }, { isDirect, isManaged }) => !isDirect && (bots || (hooks && isManaged)),
}

interface PaneProps {
  /** `undefined` until it is read. */
  conversation: OpenConversation | undefined
  /** Why it could not be read. */
  error: unknown
  onRetry: () => void
  conversation_id: string
  tab: string
  user: User
}

/** What is known of a conversation, in tabs beside it. Escape closes it. */
export function DetailsPane({ conversation, error, onRetry, conversation_id, tab, user }: PaneProps) {
  const { features } = useApp()
  const heading = useRef<HTMLHeadingElement>(null)
  const { details: words } = roomTexts.value
  const { back, close } = texts.value
  useLayoutEffect(() => heading.current?.focus(), [])
  useEscape(() => goTo({ name: 'conversation', conversation_id }))

  const place = {
    isOutside: conversation?.joined === false,
    isDirect: conversation?.direct === true,
    isManaged: conversation !== undefined && manages(features, conversation),
  }
  const isOffered = (name: DetailsTab): boolean => OFFERED[name]?.(conversation?.can ?? [], features, place) ?? true
  const offered = DETAILS_TABS.filter(isOffered)
  const current = offered.find((name) => name === tab) ?? 'about'
  const Tab = TABS[current]
  const href = hrefOf({ name: 'conversation', conversation_id })
  return (
    <section class="pane details" aria-labelledby="details-title">
      <header>
        <a class="icon-button back" href={href} aria-label={back}>
          <Icon name="back" />
        </a>
        <h2 id="details-title" ref={heading} tabIndex={-1}>
          {words.title}
          {conversation && (
            <small>
              <bdi>{titleOf(conversation)}</bdi>
            </small>
          )}
        </h2>
        <a class="icon-button close" href={href} aria-label={close} title={close}>
          <Icon name="close" />
        </a>
      </header>
      <Tabs
        label={words.title}
        tabs={offered.map((name) => [name, words.tabs[name], hrefOf({ name: 'details', conversation_id, tab: name })])}
        current={current}
      />
      <div class="scroll" key={current}>
        <div class="sheet">
          {conversation ? (
            <Tab conversation={conversation} user={user} />
          ) : error === undefined ? (
            <Waiting kind="item" />
          ) : (
            <ErrorNote error={error} onRetry={onRetry} />
          )}
        </div>
      </div>
    </section>
  )
}
