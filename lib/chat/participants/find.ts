import { isCalled, queryWords } from '../../accounts/users/rules-words.ts'
import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { listParticipants, listParticipantsAmong, type ParticipantRow } from '../memberships/store.ts'
import { FIRST } from '../memberships/with-presence.ts'
import { listEntries } from '../people/find.ts'

/** The first participants are compared one by one. Of more, those that the index of names has. */
const MAX_COMPARED = 2_000

/** How many users of the index are looked up in a larger conversation. */
const MAX_LOOKED_UP = 500

/** Up to `limit` participants with these names: the one with this very username, then others by username. */
export async function findParticipants(
  db: Queries,
  conversationId: string,
  { query, limit }: { query: string; limit: number },
): Promise<ParticipantRow[]> {
  const words = queryWords(query)
  const rows = await listParticipants(db, conversationId, FIRST, MAX_COMPARED)
  if (rows.length === MAX_COMPARED) {
    for (const isDisabled of [false, true]) {
      const users = words.length > 0 ? await listEntries(db, words, { limit: MAX_LOOKED_UP, isDisabled }) : []
      rows.push(...(await listParticipantsAmong(db, conversationId, new Set(users.map(({ id }) => id)))))
    }
  }
  const key = uniqueKey(query)
  const isNamed = ({ username }: ParticipantRow) => uniqueKey(username) === key
  const isFit = (row: ParticipantRow) =>
    isNamed(row) || (words.length > 0 && isCalled(words, row.username, row.display_name))
  const matches = new Map(rows.filter(isFit).map((row) => [row.user_id, row]))
  const rank = (row: ParticipantRow) => `${isNamed(row) ? 0 : 1}${uniqueKey(row.username)}`
  return [...matches.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, limit)
}
