import type { User } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { hasOwnSignIn } from '../app/own-sign-in.ts'
import { nameOf } from '../app/people.ts'
import { hrefOf } from '../app/route.ts'
import { DraftsButton } from '../compose/drafts-button.tsx'
import { InboxButton } from '../inbox/inbox-button.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Menu } from '../parts/menu.tsx'
import { SwitchButton } from '../switch/switch-button.tsx'
import { texts } from '../texts/texts.ts'
import { ConversationList } from './list.tsx'
import type { Section } from './sections.ts'
import './sidebar-width.ts'

const SidebarEdge = lazy(() => import('./sidebar-edge.tsx').then(({ SidebarEdge }) => SidebarEdge))
const NewConversation = lazy(() => import('./new.tsx').then(({ NewConversation }) => NewConversation))

/** The conversations, and who is signed in. */
export function Sidebar({ user, selected }: { user: User; selected: string | undefined }) {
  const app = useApp()
  const { brand, session } = app
  const [creating, setCreating] = useState<Section>()
  const [isArchive, setArchive] = useState(false)
  const { conversations, menu } = texts.value
  const canSignOut = hasOwnSignIn(app)
  return (
    <nav class="pane sidebar" aria-label={conversations.title}>
      <header>
        <p class="brand">
          {brand.logo ? <img src={brand.logo} alt="" /> : <span class="brand-mark" aria-hidden="true" />}
          <span class="name">{brand.name}</span>
        </p>
        <SwitchButton />
        <Menu label={menu.label} button={<Avatar id={user.id} name={nameOf(user)} photo={user.avatar_url} />}>
          {(close) => (
            <>
              <p class="who">
                <strong dir="auto">{nameOf(user)}</strong>
                {user.email && <small>{user.email}</small>}
              </p>
              <a href={hrefOf({ name: 'account', tab: 'profile' })} onClick={close}>
                <Icon name="settings" />
                {menu.account}
              </a>
              {user.roles.includes('admin') && (
                <a href={hrefOf({ name: 'administration', tab: 'users' })} onClick={close}>
                  <Icon name="shield" />
                  {menu.administration}
                </a>
              )}
              {canSignOut && (
                <button
                  type="button"
                  onClick={() => {
                    close()
                    void session.signOut()
                  }}
                >
                  <Icon name="out" />
                  {menu.sign_out}
                </button>
              )}
            </>
          )}
        </Menu>
      </header>
      <div class="places">
        <InboxButton />
        <a href={hrefOf({ name: 'threads' })} aria-current={app.route.value.name === 'threads' ? 'page' : undefined}>
          <Icon name="chat" />
          {texts.value.followed.title}
        </a>
        <DraftsButton user={user} />
      </div>
      <ConversationList selected={selected} isArchive={false} onCreate={setCreating} />
      <section class="archived" aria-label={conversations.archive}>
        <button type="button" class="archive" aria-expanded={isArchive} onClick={() => setArchive(!isArchive)}>
          <Icon name="archive" />
          {conversations.archive}
        </button>
        {isArchive && <ConversationList selected={selected} isArchive onCreate={setCreating} />}
      </section>
      {creating && <NewConversation section={creating} onClose={() => setCreating(undefined)} />}
      <SidebarEdge />
    </nav>
  )
}
