import { listLiveKeys } from '../../accounts/api-keys/store.ts'
import { servesFor } from '../../accounts/server-keys/rules.ts'
import { listLiveSessions } from '../../accounts/sessions/store-list.ts'
import { listEnabledUsers } from '../../accounts/users/store.ts'
import type { Access } from '../../core/access.ts'
import { splitRoles } from '../../core/actor.ts'
import type { Reader } from '../../live/readers/reader.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { type mayBrowse, mayReadOpen } from '../memberships/rules.ts'
import { listParticipations } from '../memberships/store.ts'
import { listVisibility } from '../memberships/store-conversations.ts'
import type { CloseReason } from './schema.ts'

const NEVER = Number.POSITIVE_INFINITY

/**
 * The streams of these that must end, with the reason. It updates the others: when their session or API key expires, and
 * that a user who has joined is no longer outside.
 */
export async function findRefusals(
  { access, db, now }: { access: Access; db: Queries; now: Micros },
  readers: Reader[],
): Promise<[Reader, CloseReason][]> {
  const userIds = new Set(readers.map((reader) => reader.user_id))
  const sessionIds = readers.flatMap((reader) => reader.session_id ?? [])
  const enabled = await listEnabledUsers(db, userIds)
  const sessions = new Map(
    (await listLiveSessions(db, sessionIds, now)).map((session) => [session.id, session.expires_at]),
  )
  const keyIds = readers.flatMap((reader) => reader.key_id ?? [])
  const keys = new Map((keyIds.length > 0 ? await listLiveKeys(db, keyIds, now) : []).map((key) => [key.id, key]))
  const conversationIds = new Set(readers.flatMap((reader) => reader.conversation_id ?? []))
  const participations = conversationIds.size > 0 ? await listParticipations(db, userIds, conversationIds) : []
  const places = new Set(participations.map((place) => `${place.conversation_id}/${place.user_id}`))
  const mayStay = await findStaying(
    db,
    readers.flatMap((reader): Outsider[] => {
      const { conversation_id, user_id, is_outside } = reader
      if (!is_outside || conversation_id === undefined) return []
      return [{ conversation_id, user_id, roles: splitRoles(enabled.get(user_id)?.roles ?? '') }]
    }),
    access,
  )

  return readers.flatMap((reader): [Reader, CloseReason][] => {
    const { session_id, key_id } = reader
    const bySession = session_id === undefined ? NEVER : sessions.get(session_id)
    const user = enabled.get(reader.user_id)
    const key = key_id === undefined ? undefined : keys.get(key_id)
    const byKey = key && user && servesFor(key, splitRoles(user.roles)) ? (key.expires_at ?? NEVER) : undefined
    const expires = key_id === undefined ? bySession : byKey
    const { issued_at = NEVER, expires_at = NEVER } = reader.login ?? {}
    const isEnded =
      !user || reader.since <= user.streams_ended_at || issued_at <= user.tokens_after || expires_at <= now
    if (isEnded || expires === undefined) return [[reader, 'session_ended']]
    const participates =
      reader.is_system ||
      reader.conversation_id === undefined ||
      places.has(`${reader.conversation_id}/${reader.user_id}`)
    if (!participates && !(reader.is_outside && mayStay(reader))) return [[reader, 'removed']]
    update(reader, { participates, expires_at: Math.min(expires, expires_at) })
    return []
  })
}

/** Notes at a reader that goes on what was looked up: one that participates gets all from now on. */
function update(reader: Reader, { participates, expires_at }: { participates: boolean; expires_at: Micros }): void {
  if (participates) reader.is_outside = false
  reader.expires_at = expires_at
}

/** A user with a stream of a conversation in which the user does not participate. */
type Outsider = Parameters<typeof mayBrowse>[1] & { conversation_id: string }

/** @returns which of these may still read their conversation. Without any of them, it costs no look-up */
async function findStaying(db: Queries, outsiders: Outsider[], access: Access): Promise<(reader: Reader) => boolean> {
  if (outsiders.length === 0) return () => false
  const ids = new Set(outsiders.map(({ conversation_id }) => conversation_id))
  const open = new Map((await listVisibility(db, ids)).map(({ id, visibility }) => [id, visibility]))
  const staying = new Set(
    outsiders.flatMap((outsider) => {
      const { conversation_id, user_id } = outsider
      return mayReadOpen(access, outsider, open.get(conversation_id)) ? `${conversation_id}/${user_id}` : []
    }),
  )
  return ({ conversation_id, user_id }) => staying.has(`${conversation_id}/${user_id}`)
}
