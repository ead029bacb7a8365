import { useEffect } from 'preact/hooks'
import { sound } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { UnreadBadge } from '../parts/unread-badge.tsx'
import { texts } from '../texts/texts.ts'
import { wantsAlerts } from './alerts.ts'

const Alerts = lazy(() => import('./show-alerts.tsx').then(({ Alerts }) => Alerts))

/** Leads to the inbox, and shows how much in it is unread: also on the icon of the app, where the browser has one. */
export function InboxButton() {
  const { store, route } = useApp()
  const unread = useReadable(store.unreadNotifications)
  const { inbox } = texts.value
  useEffect(() => {
    // No browser has to show it.
    navigator.setAppBadge?.(unread).catch(() => {})
  }, [unread])
  // It is the number of the user who is signed in.
  useEffect(() => () => void navigator.clearAppBadge?.().catch(() => {}), [])
  return (
    <>
      <a
        class="inbox-button"
        href={hrefOf({ name: 'inbox' })}
        aria-current={route.value.name === 'inbox' ? 'page' : undefined}
      >
        <Icon name="bell" />
        <span aria-hidden={unread > 0}>{inbox.title}</span>
        {unread > 0 && <UnreadBadge count={unread} text={inbox.open_unread(unread)} />}
      </a>
      {(wantsAlerts.value || sound.value === 'on') && <Alerts />}
    </>
  )
}
