import type { OwnSession } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { accountTexts } from '../texts/account/texts.ts'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { deviceOf } from './device.ts'

/** How many sessions are read at once; ending all others reads on. */
const PAGE = 100

/** The devices with a session of the user: each can be signed out, and all others together. */
export function Sessions() {
  const { client, session } = useApp()
  const { sessions: words } = accountTexts.value
  const { value, error, reload } = useLoad((signal) => client.auth.listSessions({ limit: PAGE }, { signal }))
  const [isEndingAll, setEndingAll] = useState(false)
  const endOthers = async () => {
    for (;;) {
      const { sessions } = await client.auth.listSessions({ limit: PAGE })
      const others = sessions.filter(({ current }) => !current)
      if (others.length === 0) break
      for (const { id } of others) await client.auth.revokeSession(id)
    }
    reload()
  }
  return (
    <section>
      <h3>{words.title}</h3>
      <ErrorNote error={error} />
      {!value && !error && <p class="quiet">{texts.value.loading}</p>}
      <ul class="items">
        {value?.sessions.map((each) => (
          <SessionItem
            key={each.id}
            session={each}
            onEnd={() => (each.current ? session.signOut() : client.auth.revokeSession(each.id).then(reload))}
          />
        ))}
      </ul>
      {value?.sessions.some(({ current }) => !current) && (
        <button type="button" class="danger" onClick={() => setEndingAll(true)}>
          {words.end_all}
        </button>
      )}
      {isEndingAll && (
        <Confirm
          title={words.end_all_title}
          text={words.end_all_text}
          button={words.end_all}
          act={endOthers}
          onClose={() => setEndingAll(false)}
        />
      )}
    </section>
  )
}

function SessionItem({ session, onEnd }: { session: OwnSession; onEnd: () => Promise<unknown> }) {
  const { sessions: words, since } = accountTexts.value
  const { run, isRunning, error } = useAction(onEnd)
  const device = deviceOf(session.user_agent) ?? words.unknown
  return (
    <li>
      <span class="name" title={session.user_agent}>
        <strong>{device}</strong>
        {session.current && <span class="tag">{words.current}</span>}
        <small>
          {[session.ip, since(shortTime(session.issued_at)), words.last_seen(shortTime(session.last_seen_at))]
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
