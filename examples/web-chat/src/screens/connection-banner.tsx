import type { Connection } from 'chat-server/client/store'
import { isOnline } from '../app/online.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'

/** Says when the service cannot be reached, and what that means for what is written. */
export function ConnectionBanner({ connection }: { connection: Connection }) {
  const isOffline = connection.status === 'offline' || !isOnline.value
  return (
    <div class="banner" role="status" data-shown={isOffline || connection.error !== undefined}>
      {isOffline && texts.value.connection.offline}
      {connection.error !== undefined && <ErrorNote error={connection.error} />}
    </div>
  )
}
