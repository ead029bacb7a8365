import type { Hub } from '../../live/hub/hub.ts'
import type { Database } from '../../storage/database.ts'
import { listMembershipsOfUsers } from '../memberships/store.ts'
import { listSmall } from './store.ts'

/** The number of users whose conversations are read in one statement. */
const BATCH = 200

/**
 * The conversations that are sent the presence of their participants.
 *
 * @param deps.broadcast_participants the maximum number of their participants: the number of events grows with its square
 */
export type Audience = ReturnType<typeof createAudience>

export function createAudience(deps: { db: Database; hub: Hub; broadcast_participants: number }) {
  const { db, hub, broadcast_participants: limit } = deps

  /** Adds whether each of these conversations is small enough to `known`. */
  async function lookUp(conversationIds: Set<string>, audiences: Map<string, boolean>): Promise<void> {
    const unknown = [...conversationIds].filter((id) => !audiences.has(id) && hub.hasReaders(id))
    if (unknown.length === 0) return
    const small = new Set(await listSmall(db, unknown, limit))
    for (const id of unknown) audiences.set(id, small.has(id))
  }

  return {
    /** Whether the participants of a conversation get presence events of each other. */
    isSmall: async (conversationId: string): Promise<boolean> =>
      (await listSmall(db, [conversationId], limit)).length > 0,

    /** For each of these users, the conversations with readers that get their presence events; none for most. */
    async findAll(userIds: readonly string[]): Promise<Map<string, Set<string>>> {
      const audiences = new Map<string, Set<string>>()
      const audienceBy = new Map<string, boolean>()
      for (let start = 0; start < userIds.length && !hub.isIdle(); start += BATCH) {
        const rows = await listMembershipsOfUsers(db, userIds.slice(start, start + BATCH))
        await lookUp(new Set(rows.map((row) => row.conversation_id)), audienceBy)
        for (const { user_id, conversation_id } of rows) {
          if (!audienceBy.get(conversation_id)) continue
          const ids = audiences.get(user_id)
          if (ids) ids.add(conversation_id)
          else audiences.set(user_id, new Set([conversation_id]))
        }
      }
      return audiences
    },
  }
}
