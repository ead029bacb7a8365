import type { Queries } from '../../storage/database.ts'
import type { KnownParticipants, WantedMentions } from './rules.ts'
import { listNamed, listParticipantCounts, listParticipating, type MentionPlace } from './store.ts'

/** A post that may mention participants. */
export interface MayMention extends MentionPlace {
  wanted: WantedMentions
}

/** What the posts to one place want to know. */
interface Wanted extends MentionPlace {
  keys: Set<string>
  ids: Set<string>
  all: boolean
}

/**
 * Looks up the users that posts may mention, once for the posts to one place. All statements are issued at the same time;
 * without such posts there is none.
 *
 * @returns what is known for each post
 */
export async function lookUpMentions(db: Queries, posts: MayMention[]): Promise<Map<number, KnownParticipants>> {
  const places = gather(posts)
  const lookups = [...places.values()]
  const [named, ids, counts] = await Promise.all([
    listNamed(
      db,
      lookups.flatMap(({ keys, ...place }) =>
        keys.size > 0 ? { ...placeOf(place), keys: JSON.stringify([...keys]) } : [],
      ),
    ),
    listParticipating(
      db,
      lookups.flatMap(({ ids, ...place }) =>
        ids.size > 0 ? { ...placeOf(place), ids: JSON.stringify([...ids]) } : [],
      ),
    ),
    listParticipantCounts(
      db,
      lookups.flatMap(({ all, ...place }) => (all ? placeOf(place) : [])),
    ),
  ])
  const results = new Map(lookups.map(({ n }) => [n, nothing()]))
  for (const { n, key, ...participant } of named) {
    results.get(n)!.idOf.set(key, participant.user_id)
    results.get(n)!.participating.set(participant.user_id, participant)
  }
  for (const { n, ...participant } of ids) results.get(n)!.participating.set(participant.user_id, participant)
  for (const { n, participants } of counts) results.get(n)!.participants = participants
  return new Map(posts.map((post) => [post.n, results.get(places.get(keyOf(post))!.n)!]))
}

/** By place: what the posts to it want together, under the number of the first. */
function gather(posts: MayMention[]): Map<string, Wanted> {
  const places = new Map<string, Wanted>()
  for (const { wanted, ...place } of posts) {
    const known = places.get(keyOf(place)) ?? { ...placeOf(place), keys: new Set(), ids: new Set(), all: false }
    places.set(keyOf(place), known)
    if ('names' in wanted) {
      for (const { ends } of wanted.names.places)
        for (const key of ends.keys()) if (!wanted.kept?.idOf.has(key)) known.keys.add(key)
    } else for (const id of wanted.user_ids) known.ids.add(id)
    known.all ||= wanted.all
  }
  return places
}

const keyOf = ({ conversation_id, parent_id }: MentionPlace) => parent_id ?? conversation_id!

const placeOf = ({ n, conversation_id, parent_id }: MentionPlace): MentionPlace => ({ n, conversation_id, parent_id })

const nothing = (): KnownParticipants => ({ idOf: new Map(), participating: new Map(), participants: 0 })
