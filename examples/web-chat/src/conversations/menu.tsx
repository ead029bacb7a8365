import type { User } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo } from '../app/route.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'
import { mayWrite, type OpenConversation } from './use-conversation.ts'

const Settings = lazy(() => import('./settings.tsx').then(({ SettingsDialog }) => SettingsDialog))
const Pins = lazy(() => import('./pins.tsx').then(({ PinsDialog }) => PinsDialog))

type Opened = 'settings' | 'pins' | 'leave' | 'remove'

/** What can be done with a conversation. */
export function ConversationMenu({ conversation, user }: { conversation: OpenConversation; user: User }) {
  const { client } = useApp()
  const [opened, setOpened] = useState<Opened>()
  const { id, role, direct } = conversation
  const { menu } = texts.value.conversations
  const close = () => setOpened(undefined)
  const goHome = () => goTo({ name: 'home' }, { replace: true })
  const button = (name: Opened, icon: IconName, closeMenu: () => void) => (
    <button
      type="button"
      onClick={() => {
        closeMenu()
        setOpened(name)
      }}
    >
      <Icon name={icon} />
      {menu[name]}
    </button>
  )
  return (
    <>
      <Menu label={menu.label} button={<Icon name="more" />}>
        {(closeMenu) => (
          <>
            {button('pins', 'pin', closeMenu)}
            {button('settings', 'settings', closeMenu)}
            <ArchiveButton id={id} onDone={closeMenu} />
            {!direct && button('leave', 'out', closeMenu)}
            {!direct && role === 'owner' && button('remove', 'trash', closeMenu)}
          </>
        )}
      </Menu>
      {opened === 'settings' && <Settings conversation={conversation} onClose={close} />}
      {opened === 'pins' && <Pins conversation_id={id} canWrite={mayWrite(conversation, user)} onClose={close} />}
      {opened === 'leave' && (
        <Confirm
          title={menu.leave_title}
          text={menu.leave_text}
          button={menu.leave}
          act={() => client.participants.remove(id, user.id).then(goHome)}
          onClose={close}
        />
      )}
      {opened === 'remove' && (
        <Confirm
          title={menu.remove_title}
          text={menu.remove_text}
          button={menu.remove}
          typed={conversation.title || id}
          act={() => client.conversations.remove(id).then(goHome)}
          onClose={close}
        />
      )}
    </>
  )
}

/** Takes the conversation out of the list, or back into it. */
function ArchiveButton({ id, onDone }: { id: string; onDone: () => void }) {
  const { store } = useApp()
  const { settings } = useReadable(store.settings(id))
  const { menu } = texts.value.conversations
  const isArchived = settings?.archived ?? false
  const { run, isRunning } = useAction(async () => {
    await store.setSettings(id, { archived: !isArchived })
    onDone()
    if (!isArchived) goTo({ name: 'home' })
  })
  return (
    <button type="button" disabled={isRunning || !settings} onClick={() => void run()}>
      <Icon name="archive" />
      {isArchived ? menu.unarchive : menu.archive}
    </button>
  )
}
