import { listLiveKeys } from '../../accounts/api-keys/store.ts'
import { listLiveSessions } from '../../accounts/sessions/store-list.ts'
import { listEnabledUsers } from '../../accounts/users/store.ts'
import type { Reader } from '../../live/readers/reader.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { listParticipations } from '../memberships/store.ts'
import type { CloseReason } from './schema.ts'

const NEVER = Number.POSITIVE_INFINITY

/**
 * The streams of these that must end, with the reason. For the others it updates when their session or API key expires.
 */
export async function findRefusals(db: Queries, now: Micros, readers: Reader[]): Promise<[Reader, CloseReason][]> {
  const userIds = new Set(readers.map((reader) => reader.user_id))
  const sessionIds = readers.flatMap((reader) => reader.session_id ?? [])
  const enabled = await listEnabledUsers(db, userIds)
  const sessions = new Map(
    (await listLiveSessions(db, sessionIds, now)).map((session) => [session.id, session.expires_at]),
  )
  const keyIds = readers.flatMap((reader) => reader.key_id ?? [])
  const keys = new Map(
    (keyIds.length > 0 ? await listLiveKeys(db, keyIds, now) : []).map((key) => [key.id, key.expires_at ?? NEVER]),
  )
  const places = new Set(
    (await listParticipations(db, userIds, new Set(readers.flatMap((reader) => reader.conversation_id ?? [])))).map(
      (place) => `${place.conversation_id}/${place.user_id}`,
    ),
  )

  return readers.flatMap((reader): [Reader, CloseReason][] => {
    const { session_id, key_id } = reader
    const bySession = session_id === undefined ? NEVER : sessions.get(session_id)
    const expires = key_id === undefined ? bySession : keys.get(key_id)
    const user = enabled.get(reader.user_id)
    const { issued_at = NEVER, expires_at = NEVER } = reader.login ?? {}
    const isEnded =
      !user || reader.since <= user.streams_ended_at || issued_at <= user.tokens_after || expires_at <= now
    if (isEnded || expires === undefined) return [[reader, 'session_ended']]
    const isOut =
      !reader.is_system &&
      reader.conversation_id !== undefined &&
      !places.has(`${reader.conversation_id}/${reader.user_id}`)
    if (isOut) return [[reader, 'removed']]
    reader.expires_at = Math.min(expires, expires_at)
    return []
  })
}
