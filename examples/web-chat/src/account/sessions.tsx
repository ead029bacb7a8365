import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { accountTexts } from '../texts/settings.ts'
import { SessionItem } from './session-item.tsx'

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
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting onRetry={reload} />}
      <ul class="items">
        {value?.sessions.map((each) => (
          <SessionItem
            words={words}
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
