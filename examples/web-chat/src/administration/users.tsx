import type { Account } from 'chat-server/client/admin'
import { useEffect, useState } from 'preact/hooks'
import { nameOf } from '../app/people.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Field } from '../parts/field.tsx'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'
import { CreateUser } from './create-user.tsx'
import { Tasks } from './tasks.tsx'

/** How long is waited for another letter. */
const TYPING_MS = 200

/** The users, found by the beginning of a name or an address. */
export function Users() {
  const admin = useAdmin()
  const { users: words } = administrationTexts.value
  const [typed, setTyped] = useState('')
  const [query, setQuery] = useState('')
  const [isCreating, setCreating] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const pages = usePages(
    async (after, signal) => {
      const { users, next_after } = await admin.users.list(
        { ...(query && { query }), ...(after && { after }) },
        { signal },
      )
      return { items: users, next_after }
    },
    [query],
  )
  return (
    <>
      <div class="one-line">
        <Field
          label={words.search}
          type="search"
          autocomplete="off"
          placeholder={words.search_hint}
          maxLength={200}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          {words.create}
        </button>
      </div>
      <Tasks isHiddenWithout />
      <ul class="items users">
        {pages.items?.map((each) => (
          <UserItem key={each.id} account={each} />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.none} />
      {isCreating && (
        <CreateUser
          onCreated={({ id }) => goTo({ name: 'administration', tab: 'users', id })}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  )
}

function UserItem({ account }: { account: Account }) {
  const { id, username, email } = account
  return (
    <li>
      <Avatar id={id} name={nameOf(account)} photo={account.avatar_url} />
      <span class="name">
        <a href={hrefOf({ name: 'administration', tab: 'users', id })} dir="auto">
          {nameOf(account)}
        </a>
        <AccountTags account={account} />
        <small>
          <bdi>@{username}</bdi>
          {email && (
            <>
              {' · '}
              <bdi>{email}</bdi>
            </>
          )}
        </small>
      </span>
    </li>
  )
}

/** What is special about an account. */
export function AccountTags({ account: { roles, disabled_at, email, email_verified } }: { account: Account }) {
  const { users: words } = administrationTexts.value
  return (
    <>
      {roles.includes('admin') && <span class="tag">{words.roles.admin}</span>}
      {roles.includes('read_only') && <span class="tag">{words.roles.read_only}</span>}
      {disabled_at && <span class="tag warning">{words.disabled}</span>}
      {email && !email_verified && <span class="tag">{words.unverified}</span>}
    </>
  )
}
