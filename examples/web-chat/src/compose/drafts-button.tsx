import type { User } from 'chat-server/client'
import { hrefOf } from '../app/route.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { draftsOf } from './drafts.ts'

/** Leads to the drafts of this device, while there are any. */
export function DraftsButton({ user }: { user: User }) {
  const { title } = texts.value.drafts
  if (draftsOf(user.id).length === 0) return null
  return (
    <a href={hrefOf({ name: 'drafts' })}>
      <Icon name="edit" />
      {title}
    </a>
  )
}
