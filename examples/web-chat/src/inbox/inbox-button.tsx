import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { wantsAlerts } from './alerts-choice.ts'

const Inbox = lazy(() => import('./inbox.tsx').then(({ Inbox }) => Inbox))
const Alerts = lazy(() => import('./alerts.tsx').then(({ Alerts }) => Alerts))

/** Opens the inbox, and shows how much in it is unread: also on the icon of the app, where the browser has one. */
export function InboxButton() {
  const { store } = useApp()
  const [isOpen, setOpen] = useState(false)
  const unread = useReadable(store.unreadNotifications)
  const { inbox } = texts.value
  useEffect(() => {
    // No browser has to show it.
    navigator.setAppBadge?.(unread).catch(() => {})
  }, [unread])
  return (
    <>
      <button
        type="button"
        class="icon-button inbox-button"
        aria-haspopup="dialog"
        aria-label={unread > 0 ? inbox.open_unread(unread) : inbox.title}
        title={inbox.title}
        onClick={() => setOpen(true)}
      >
        <Icon name="bell" />
        {unread > 0 && (
          <span class="badge" aria-hidden="true" dir="ltr">
            {unread > 99 ? '99+' : unread}
          </span>
        )}
      </button>
      {isOpen && <Inbox onClose={() => setOpen(false)} />}
      {wantsAlerts.value && <Alerts />}
    </>
  )
}
