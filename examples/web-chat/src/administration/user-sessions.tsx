import type { SessionOfUser } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { deviceOf } from '../account/device.ts'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { accountTexts } from '../texts/account/texts.ts'
import { administrationTexts } from '../texts/administration/texts.ts'
import { shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'
import { PagesEnd, usePages } from './pages.tsx'

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
          <Session key={each.id} session={each} onEnd={() => admin.users.endSession(id, each.id).then(changed)} />
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

function Session({ session, onEnd }: { session: SessionOfUser; onEnd: () => Promise<unknown> }) {
  const { users: words } = administrationTexts.value
  const { sessions, since } = accountTexts.value
  const { run, isRunning, error } = useAction(onEnd)
  const device = deviceOf(session.user_agent) ?? sessions.unknown
  return (
    <li>
      <span class="name" title={session.user_agent}>
        <strong>{device}</strong>
        <small>
          {[session.ip, since(shortTime(session.issued_at)), sessions.last_seen(shortTime(session.last_seen_at))]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </span>
      <button type="button" aria-label={words.end_of(device)} disabled={isRunning} onClick={() => void run()}>
        {words.end}
      </button>
      <ErrorNote error={error} />
    </li>
  )
}
