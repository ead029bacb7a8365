import { inboxOf } from 'chat-server/client/parts'
import { useMemo, useRef } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useRoving } from '../parts/roving.ts'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { texts } from '../texts/texts.ts'
import { AlertsChoice } from './alerts-choice.tsx'
import { InboxItem } from './item.tsx'
import { useNames } from './names.ts'
import { type InboxRow, rowsOf, unreadOf } from './rows.ts'

const TABS = ['unread', 'all'] as const

/** What concerns the user, a row for each thread, newest first: what is unread, or all of it. */
export function InboxPane({ tab }: { tab: string | undefined }) {
  const { store } = useApp()
  const current = tab === 'all' ? 'all' : 'unread'
  const inbox = inboxOf(store)
  const list = inbox.notifications({ unread: current === 'unread' })
  const { notifications, status, error, has_more } = useReadable(list)
  const hasUnread = useReadable(store.unreadNotifications) + useReadable(store.unread) > 0
  const rows = useMemo(() => rowsOf(notifications), [notifications])
  const end = useRef<HTMLLIElement>(null)
  const words = texts.value.inbox
  const { run, isRunning, error: failure } = useAction(() => store.markAllRead())
  const roving = useRoving()
  useVisible(end, () => void list.loadMore(), has_more)
  useNames(notifications)

  function read(row: InboxRow): void {
    const ids = unreadOf(row).map(({ id }) => id)
    // Shown as unread again, if it fails.
    if (ids.length > 0) void inbox.markRead({ ids }).catch(() => {})
  }

  function done(row: InboxRow): void {
    if (current === 'unread') roving.leave()
    read(row)
  }

  return (
    <SettingsPane
      title={words.title}
      tabs={TABS.map((name) => [name, words.tabs[name], hrefOf({ name: 'inbox', tab: name })])}
      current={current}
    >
      <AlertsChoice />
      {hasUnread && (
        <div class="toolbar">
          <button type="button" disabled={isRunning} onClick={() => void run()}>
            <Icon name="check" />
            {words.read_all}
          </button>
        </div>
      )}
      <ErrorNote error={failure} />
      <ErrorNote error={status === 'failed' ? error : undefined} onRetry={() => void list.reload()} />
      {status === 'loading' && <Waiting kind="item" />}
      {status === 'ready' && rows.length === 0 && <p class="quiet">{words.empty[current]}</p>}
      <ul class="inbox rows" aria-live="off" {...roving.list}>
        {rows.map((row) => (
          <InboxItem key={row.key} row={row} onOpen={() => read(row)} onDone={() => done(row)} />
        ))}
        {has_more && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
    </SettingsPane>
  )
}
