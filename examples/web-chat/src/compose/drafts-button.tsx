import type { User } from 'chat-server/client'
import { useMemo } from 'preact/hooks'
import { hrefOf } from '../app/route.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { draftsChange, draftsOf } from './drafts.ts'

/** Leads to the drafts of this device, while there are any. */
export function DraftsButton({ user }: { user: User }) {
  const { title } = texts.value.drafts
  // The sidebar is rendered for much else.
  const has = useMemo(() => draftsOf(user.id).length > 0, [user.id, draftsChange.value])
  if (!has) return null
  return (
    <a href={hrefOf({ name: 'drafts' })}>
      <Icon name="edit" />
      {title}
    </a>
  )
}
