import type { Notification as InboxItem } from 'chat-server/client'
import { inboxOf } from 'chat-server/client/parts'
import { useEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo } from '../app/route.ts'
import { plainOf } from '../markdown/plain.ts'
import { turnAlertsOff } from './alerts.ts'
import { useNames } from './names.ts'
import { sentenceOf } from './sentence.ts'
import { targetOf } from './target.ts'

/** Shows what arrives in the inbox as notifications of the browser, while the page is not looked at. */
export function Alerts() {
  const { store, people, brand } = useApp()
  const { notifications, status } = useReadable(inboxOf(store).notifications({ unread: true }))
  const known = useRef<Map<string, string> | undefined>(undefined)
  useNames(notifications)
  useEffect(() => {
    if (status !== 'ready') return
    const before = known.current
    known.current = new Map(notifications.map(({ id, at }) => [id, at]))
    if (!before || document.hasFocus()) return
    const latest = [...before.values()].reduce((one, other) => (one > other ? one : other), '')
    // One that was marked as read elsewhere makes room for older ones: they are nothing new.
    for (const each of notifications.filter(({ id, at }) => before.get(id) !== at && at > latest))
      show(each, `${sentenceOf(each, people)} – ${brand.name}`)
  }, [notifications, status])
  return null
}

function show(item: InboxItem, title: string): void {
  try {
    // Of two tabs with the same notification, the browser shows one, by its tag.
    const notification = new Notification(title, { body: plainOf(item.excerpt ?? ''), tag: item.id })
    notification.onclick = () => {
      window.focus()
      goTo(targetOf(item))
      notification.close()
    }
  } catch {
    // Some browsers of phones have them for service workers only.
    turnAlertsOff()
  }
}
