import { useState } from 'preact/hooks'
import { SessionItem } from '../account/session-item.tsx'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'

/** The sessions of a user: one can be ended, and all. */
export function UserSessions({ id, onChanged }: { id: string; onChanged: () => void }) {
  const admin = useAdmin()
  const { features } = useApp()
  const { users: words } = administrationTexts.value
  const [isEndingAll, setEndingAll] = useState(false)
  const pages = usePages(async (after, signal) => {
    const { sessions, next_after } = await admin.users.listSessions(id, { ...(after && { after }) }, { signal })
    return { items: sessions, next_after }
  })
  const changed = () => {
    pages.reload()
    onChanged()
  }
  if (!features.sign_in) return null
  return (
    <section>
      <h3>{words.sessions}</h3>
      <ul class="items">
        {pages.items?.map((each) => (
          <SessionItem
            words={words}
            key={each.id}
            session={each}
            onEnd={() => admin.users.endSession(id, each.id).then(changed)}
          />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.no_sessions} />
      {(pages.items?.length ?? 0) > 0 && (
        <button type="button" class="danger" onClick={() => setEndingAll(true)}>
          {words.end_all}
        </button>
      )}
      {isEndingAll && (
        <Confirm
          title={words.end_all_title}
          text={words.end_all_text}
          button={words.end_all}
          act={() => admin.users.endSessions(id).then(changed)}
          onClose={() => setEndingAll(false)}
        />
      )}
    </section>
  )
}
