import type { Notification as InboxItem } from 'chat-server/client'
import { inboxOf } from 'chat-server/client/parts'
import type { ChatStore } from 'chat-server/client/store'
import { useEffect, useRef } from 'preact/hooks'
import { sound } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, type Route } from '../app/route.ts'
import { plainOf } from '../markdown/plain.ts'
import { turnAlertsOff, wantsAlerts } from './alerts.ts'
import { chime } from './chime.ts'
import { useNames } from './names.ts'
import { sentenceOf } from './sentence.ts'
import { targetOf } from './target.ts'

/** Shows what arrives in the inbox as notifications of the browser while the page is not looked at, and has it heard: nothing of the place in view. */
export function Alerts() {
  const { store, people, brand, route } = useApp()
  const { notifications, status } = useReadable(inboxOf(store).notifications({ unread: true }))
  const known = useRef<Map<string, string> | undefined>(undefined)
  useNames(notifications)
  useEffect(() => {
    if (status !== 'ready') return
    const before = known.current
    known.current = new Map(notifications.map(({ id, at }) => [id, at]))
    if (!before) return
    const latest = [...before.values()].reduce((one, other) => (one > other ? one : other), '')
    // One that was marked as read elsewhere makes room for older ones: they are nothing new.
    const arrived = notifications.filter(
      (each) => before.get(each.id) !== each.at && each.at > latest && !isInView(each, route.peek(), store),
    )
    if (sound.peek() === 'on' && arrived.length > 0) chime()
    if (!wantsAlerts.peek() || document.hasFocus()) return
    for (const each of arrived) show(each, `${sentenceOf(each, people)} – ${brand.name}`)
  }, [notifications, status])
  return null
}

function isInView(
  { conversation_id, root_id, message_id }: InboxItem,
  at: Route,
  { conversations }: ChatStore,
): boolean {
  if (!document.hasFocus()) return false
  if (at.name === 'thread') return at.root_id === root_id
  if (at.name !== 'conversation' || at.conversation_id !== conversation_id) return false
  if (message_id === root_id) return true
  // A talk with the assistant shows replies, too.
  return conversations.getSnapshot().conversations.find(({ id }) => id === conversation_id)?.layout === 'assistant'
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
