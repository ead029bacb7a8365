import type { AuditRecord } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { goTo, hrefOf } from '../app/route.ts'
import { useLoad } from '../parts/load.ts'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { Select } from '../parts/select.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'
import { AUDIT_ACTS } from './audit-acts.ts'

type Act = AuditRecord['act']

/** How many users are known by name here; others are shown by their id. */
const MAX_NAMES = 200

/**
 * What has been done: signing in, changes of accounts, administration.
 *
 * @param props.user_id of the address: only what was done by or to this user
 */
export function AuditLog({ user_id }: { user_id: string | undefined }) {
  const admin = useAdmin()
  const { audit: words } = administrationTexts.value
  const [act, setAct] = useState<Act | 'all'>('all')
  const names = useLoad(async (signal) => {
    const { users } = await admin.users.list({ limit: MAX_NAMES }, { signal })
    return new Map(users.map(({ id, username }) => [id, username]))
  })
  const pages = usePages(
    async (after, signal) => {
      const query = { ...(act !== 'all' && { act }), ...(user_id && { user_id }), ...(after && { after }) }
      const { entries, next_after } = await admin.audit.list(query, { signal })
      return { items: entries, next_after }
    },
    [act, user_id],
  )
  return (
    <>
      <Select
        label={words.filter}
        value={act}
        options={[['all', words.all], ...AUDIT_ACTS.map((each) => [each, each] as const)]}
        onChange={setAct}
      />
      <Select
        label={words.user}
        value={user_id ?? ''}
        options={usersOf(names.value, user_id, words.everyone)}
        onChange={(id) => goTo({ name: 'administration', tab: 'audit', ...(id && { id }) }, { replace: true })}
      />
      <ul class="items audit">
        {pages.items?.map((each) => (
          <Entry key={each.id} entry={each} names={names.value} />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.none} />
    </>
  )
}

/** Those that are known by name; one that is chosen is there in any case. */
function usersOf(
  names: ReadonlyMap<string, string> = new Map(),
  chosen: string | undefined,
  everyone: string,
): [id: string, name: string][] {
  const users = [...names].sort(([, one], [, other]) => one.localeCompare(other))
  return [
    ['', everyone],
    ...(chosen === undefined || names.has(chosen) ? [] : [[chosen, chosen] as [string, string]]),
    ...users,
  ]
}

function Entry({ entry, names }: { entry: AuditRecord; names: ReadonlyMap<string, string> | undefined }) {
  const { audit: words } = administrationTexts.value
  const { act, at, actor_id, subject_id, ip, detail } = entry
  const nameOf = (id: string) => names?.get(id) ?? id
  return (
    <li>
      <span class="name">
        <code>{act}</code>
        <time datetime={at} title={longTime(at)}>
          {shortTime(at)}
        </time>
        <small>
          {actor_id ? words.by(nameOf(actor_id)) : !ip && words.by_command_line}
          {ip && ` · ${ip}`}
          {subject_id && subject_id !== actor_id && (
            <>
              {' · '}
              {names?.has(subject_id) ? (
                <a href={hrefOf({ name: 'administration', tab: 'users', id: subject_id })}>
                  {words.about(nameOf(subject_id))}
                </a>
              ) : (
                words.about(subject_id)
              )}
            </>
          )}
        </small>
        {detail && Object.keys(detail).length > 0 && (
          <small>
            {Object.entries(detail)
              .map(([key, value]) => `${key}: ${[value].flat().join(', ')}`)
              .join(' · ')}
          </small>
        )}
      </span>
    </li>
  )
}
