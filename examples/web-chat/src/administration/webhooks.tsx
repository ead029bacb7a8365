import type { WebhookOfUser } from 'chat-server/client/admin'
import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { hrefOf } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { useLoad } from '../parts/load.ts'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { Select } from '../parts/select.tsx'
import { webhooksTexts } from '../texts/integrations.ts'
import { administrationTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'

const STATUSES = ['all', 'active', 'unverified', 'disabled'] as const

/** How many users are known by name here; others are shown by their id. */
const MAX_NAMES = 200

/** How long is waited for another letter. */
const TYPING_MS = 200

/** The webhooks of all users, by host and status; each can be disabled and enabled. */
export function Webhooks() {
  const admin = useAdmin()
  const words = webhooksTexts.value
  const [status, setStatus] = useState<(typeof STATUSES)[number]>('all')
  const [typed, setTyped] = useState('')
  const [host, setHost] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setHost(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const names = useLoad(async (signal) => {
    const { users } = await admin.users.list({ limit: MAX_NAMES }, { signal })
    return new Map(users.map(({ id, username }) => [id, username]))
  })
  const pages = usePages(
    async (after, signal) => {
      const query = { ...(status !== 'all' && { status }), ...(host && { host }), ...(after && { after }) }
      const { webhooks, next_after } = await admin.webhooks.listAll(query, { signal })
      return { items: webhooks, next_after }
    },
    [status, host],
  )
  return (
    <>
      <p class="hint">{words.of_all}</p>
      <Select
        label={words.status}
        value={status}
        options={STATUSES.map((each) => [each, each === 'all' ? words.any_status : words.statuses[each]])}
        onChange={setStatus}
      />
      <Field
        label={words.host}
        type="search"
        autocomplete="off"
        placeholder="hooks.example.org"
        maxLength={2048}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <ul class="items">
        {pages.items?.map((each) => (
          <WebhookItem key={each.id} webhook={each} names={names.value} onChanged={pages.reload} />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.none_of_all} />
    </>
  )
}

interface WebhookItemProps {
  webhook: WebhookOfUser
  names: ReadonlyMap<string, string> | undefined
  onChanged: () => void
}

function WebhookItem({ webhook, names, onChanged }: WebhookItemProps) {
  const admin = useAdmin()
  const words = webhooksTexts.value
  const { created } = administrationTexts.value
  const { id, user_id, host, status, disabled_reason, last_success_at, created_at } = webhook
  const change = useAction((enabled: boolean) => admin.webhooks.changeAny(id, { enabled }).then(onChanged))
  const isActive = status === 'active'
  const label = isActive ? words.disable_of(host) : words.enable_of(host)
  return (
    <li>
      <span class="name">
        <strong dir="ltr">{host}</strong>
        <span class={isActive ? 'tag' : 'tag warning'}>{words.statuses[status]}</span>
        <small>
          {user_id === undefined ? (
            words.operator
          ) : (
            <a href={hrefOf({ name: 'administration', tab: 'users', id: user_id })} dir="auto">
              {names?.get(user_id) ?? user_id}
            </a>
          )}
        </small>
        <small>
          {[
            disabled_reason ? words.causes[disabled_reason] : '',
            last_success_at ? words.last_success(shortTime(last_success_at)) : words.no_success,
            created(shortTime(created_at)),
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </span>
      {status !== 'unverified' && (
        <button type="button" aria-label={label} disabled={change.isRunning} onClick={() => void change.run(!isActive)}>
          {isActive ? words.disable : words.enable}
        </button>
      )}
      <ErrorNote error={change.error} />
    </li>
  )
}
