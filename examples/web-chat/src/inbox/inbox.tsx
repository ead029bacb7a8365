import { inboxOf } from 'chat-server/client/parts'
import { useRef, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useVisible } from '../parts/visible.ts'
import { texts } from '../texts/texts.ts'
import { canAsk, turnAlertsOff, turnAlertsOn, wantsAlerts } from './alerts-choice.ts'
import { InboxItem } from './item.tsx'
import { useNames } from './names.ts'

/** What concerns the user, newest first. */
export function Inbox({ onClose }: { onClose: () => void }) {
  const { store } = useApp()
  const [isUnreadOnly, setUnreadOnly] = useState(false)
  const inbox = inboxOf(store)
  const list = inbox.notifications({ unread: isUnreadOnly })
  const { notifications, status, error, has_more } = useReadable(list)
  const unread = useReadable(store.unreadNotifications)
  const end = useRef<HTMLLIElement>(null)
  const words = texts.value.inbox
  const { run, isRunning, error: failure } = useAction((up_to: string) => inbox.markRead({ up_to }))
  useVisible(end, () => void list.loadMore(), has_more)
  useNames(notifications)

  return (
    <Dialog title={words.title} onClose={onClose}>
      <div class="toolbar">
        <label class="check">
          <input
            type="checkbox"
            checked={isUnreadOnly}
            onChange={(event) => setUnreadOnly(event.currentTarget.checked)}
          />
          {words.unread_only}
        </label>
        <button
          type="button"
          disabled={isRunning || unread === 0 || !notifications[0]}
          onClick={() => void run(notifications[0]!.id)}
        >
          <Icon name="check" />
          {words.read_all}
        </button>
      </div>
      <ErrorNote error={failure ?? (status === 'failed' ? error : undefined)} />
      {status === 'loading' && <p class="quiet">{texts.value.loading}</p>}
      {status === 'ready' && notifications.length === 0 && <p class="quiet">{words.empty}</p>}
      <ul class="inbox" aria-live="off">
        {notifications.map((each) => (
          <InboxItem
            key={each.id}
            item={each}
            onOpen={() => {
              onClose()
              // Shown as unread again, if it fails.
              if (each.read_at === undefined) void inbox.markRead({ ids: [each.id] }).catch(() => {})
            }}
          />
        ))}
        {has_more && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
      <AlertsChoice />
    </Dialog>
  )
}

/** Whether the browser shows notifications: it is asked for the permission with the click. */
function AlertsChoice() {
  const { inbox } = texts.value
  const [isRefused, setRefused] = useState(!canAsk())
  if (!('Notification' in window)) return null
  return (
    <section>
      <label class="check">
        <input
          type="checkbox"
          disabled={isRefused}
          checked={wantsAlerts.value}
          onChange={async (event) => {
            const box = event.currentTarget
            if (!box.checked) return turnAlertsOff()
            setRefused(!(await turnAlertsOn()) && !canAsk())
            // A question that was closed without an answer leaves it off.
            box.checked = wantsAlerts.value
          }}
        />
        {inbox.alerts}
      </label>
      <p class="hint">{isRefused ? inbox.alerts_refused : inbox.alerts_hint}</p>
    </section>
  )
}
