import type { AccountFacts } from 'chat-server/client/admin'
import { nameOf } from '../app/people.ts'
import { hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'
import { UserAccess } from './user-access.tsx'
import { UserEdit } from './user-edit.tsx'
import { UserKeys } from './user-keys.tsx'
import { UserQuota } from './user-quota.tsx'
import { UserSessions } from './user-sessions.tsx'
import { UserSignIn } from './user-sign-in.tsx'
import { AccountTags } from './users.tsx'

/** One user: what is known of the account, and everything that can be done with it. */
export function UserDetails({ id }: { id: string }) {
  const admin = useAdmin()
  const { users: words } = administrationTexts.value
  const { value: facts, error, reload } = useLoad((signal) => admin.users.describe(id, { signal }))
  return (
    <>
      <p>
        <a href={hrefOf({ name: 'administration', tab: 'users' })}>{words.all}</a>
      </p>
      <ErrorNote error={error} onRetry={reload} />
      {!facts && !error && <Waiting onRetry={reload} />}
      {facts && (
        <>
          <Facts facts={facts} />
          <UserEdit account={facts.user} onChanged={reload} />
          <UserSignIn facts={facts} onChanged={reload} />
          <UserSessions id={id} onChanged={reload} />
          <UserQuota id={id} />
          <UserKeys id={id} onChanged={reload} />
          <UserAccess account={facts.user} onChanged={reload} />
          <p>
            <a href={hrefOf({ name: 'administration', tab: 'audit', id })}>{words.audit_of}</a>
          </p>
        </>
      )}
    </>
  )
}

function Facts({ facts }: { facts: AccountFacts }) {
  const { users: words, created } = administrationTexts.value
  const { user, has_password, last_seen_at, sessions, keys, conversations } = facts
  return (
    <div class="identity">
      <Avatar id={user.id} name={nameOf(user)} photo={user.avatar_url} />
      <span class="name">
        <strong dir="auto">{nameOf(user)}</strong>
        <AccountTags account={user} />
        <small>
          <bdi>@{user.username}</bdi>
          {user.email && (
            <>
              {' · '}
              <bdi>{user.email}</bdi>
            </>
          )}
        </small>
        <small title={longTime(user.created_at)}>
          {[
            created(shortTime(user.created_at)),
            last_seen_at ? words.last_seen(shortTime(last_seen_at)) : words.never_seen,
            has_password ? '' : words.no_password,
            words.counts(sessions, keys, conversations),
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </span>
    </div>
  )
}
