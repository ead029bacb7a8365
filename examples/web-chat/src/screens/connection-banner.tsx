import type { Connection } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { isOnline } from '../app/online.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useSeconds } from '../parts/use-seconds.ts'
import { texts } from '../texts/texts.ts'

/** Says when the device has no network, or the service cannot be reached, and what that means for what is written. */
export function ConnectionBanner({ connection: { status, error, retry_at = 0 } }: { connection: Connection }) {
  const { brand } = useApp()
  const isOffline = !isOnline.value
  const isLost = status === 'offline' && !isOffline
  const { connection } = texts.value
  return (
    <div class="banner" role="status" data-shown={isOffline || isLost || error !== undefined}>
      {isOffline && connection.offline}
      {isLost && (
        <>
          {connection.unreachable(brand.name)} <Countdown to={retry_at} />
        </>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </div>
  )
}

/** The seconds until the next attempt; a screen reader would read every one of them. */
function Countdown({ to }: { to: number }) {
  return <span aria-hidden="true">{texts.value.connection.retrying(useSeconds(to))}</span>
}
