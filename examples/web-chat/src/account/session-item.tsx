import type { OwnSession } from 'chat-server/client'
import { useAction } from '../app/action.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { accountTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'
import { deviceOf } from './device.ts'

interface SessionItemProps {
  session: Pick<OwnSession, 'user_agent' | 'ip' | 'issued_at' | 'last_seen_at'> & { current?: boolean }
  /** What the button says, also with the name of the device. */
  words: { end: string; end_of: (device: string) => string }
  onEnd: () => Promise<unknown>
}

/** A session in a list, with a button that ends it. */
export function SessionItem({ session, words, onEnd }: SessionItemProps) {
  const { sessions, since } = accountTexts.value
  const { run, isRunning, error } = useAction(onEnd)
  const device = deviceOf(session.user_agent) ?? sessions.unknown
  return (
    <li>
      <span class="name" title={session.user_agent}>
        <strong>{device}</strong>
        {session.current && <span class="tag">{sessions.current}</span>}
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
