import type { Queries } from '../../storage/database.ts'
import type { KnownParticipants, WantedMentions } from './rules.ts'
import { listNamed, listParticipantCounts, listParticipating, type MentionPlace } from './store.ts'

/** A post that may mention participants. */
export interface MayMention extends MentionPlace {
  wanted: WantedMentions
}

/**
 * Looks up the users that posts may mention. All statements are issued at the same time; without such posts there is none.
 *
 * @returns what is known for each post
 */
export async function lookUpMentions(db: Queries, posts: MayMention[]): Promise<Map<number, KnownParticipants>> {
  const [named, ids, counts] = await Promise.all([
    listNamed(
      db,
      posts.flatMap(({ wanted, ...place }) => ('places' in wanted ? { ...placeOf(place), keys: keysOf(wanted) } : [])),
    ),
    listParticipating(
      db,
      posts.flatMap(({ wanted, ...place }) =>
        'user_ids' in wanted && wanted.user_ids.length > 0
          ? { ...placeOf(place), ids: JSON.stringify([...new Set(wanted.user_ids)]) }
          : [],
      ),
    ),
    listParticipantCounts(
      db,
      posts.flatMap(({ wanted, ...place }) => (wanted.all ? placeOf(place) : [])),
    ),
  ])
  const known = new Map(
    posts.map(({ n }) => [n, { idOf: new Map<string, string>(), participating: new Set<string>(), participants: 0 }]),
  )
  for (const { n, key, user_id } of named) known.get(n)!.idOf.set(key, user_id)
  for (const { n, user_id } of ids) known.get(n)!.participating.add(user_id)
  for (const { n, participants } of counts) known.get(n)!.participants = participants
  return known
}

const placeOf = ({ n, conversation_id, parent_id }: MentionPlace): MentionPlace => ({ n, conversation_id, parent_id })

function keysOf({ places }: { places: string[][] }): string {
  return JSON.stringify([...new Set(places.flat())])
}
