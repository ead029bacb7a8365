import type { Config } from '../../config/parse.ts'
import { ChatError } from '../../core/errors.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { canModerate } from '../memberships/rules.ts'
import { type ParticipantSettings, type PolicyColumns, toPolicy } from '../memberships/rules-settings.ts'
import { ALL, chooseNamed, findNames, type WrittenNames } from './rules-find.ts'
import type { MentionsInput } from './schema.ts'

/** What a message may mention, before the participants are known. */
export type WantedMentions =
  | { user_ids: string[]; all: boolean }
  /** Found in a text. */
  | { names: WrittenNames; all: boolean }

/** What a post asks for; `undefined` for one that mentions no user: then nothing is looked up. */
export function mentionsWanted({
  content,
  mentions,
}: {
  content: string
  mentions?: MentionsInput | undefined
}): WantedMentions | undefined {
  if (mentions) {
    const { user_ids = [], all = false } = mentions
    return user_ids.length > 0 || all ? { user_ids, all } : undefined
  }
  const names = findNames(content)
  return names.places.length > 0 ? { names, all: names.places.some(({ ends }) => ends.has(ALL)) } : undefined
}

/** The participants among the users that a message may mention. */
export interface KnownParticipants {
  /** The ids of the named users, by key. */
  idOf: Map<string, string>
  /** The named users, by id. */
  participating: Map<string, ParticipantSettings>
  /** The number of all, if all are meant. */
  participants: number
}

/** The author, and the conversation's policy. */
export interface Writer extends PolicyColumns {
  user_id: string
  role: ParticipantRole
}

/** The users that a message mentions: without its author, in the order of ids. */
export interface Mentioned {
  user_ids: string[]
  all: boolean
}

/**
 * Decides which users a message mentions.
 *
 * @throws ChatError `forbidden` if all participants are named without the right to; `conflict` if there are too many
 */
export function decideMentions(
  mentions: WantedMentions,
  participants: KnownParticipants,
  writer: Writer,
  limits: Pick<Config['limits'], 'mention_all'>,
): Mentioned {
  const named = 'names' in mentions ? chooseNamed(mentions.names, participants.idOf, writer.user_id) : mentions
  const isFound = 'names' in mentions
  const all = named.all && mayMentionAll(writer, participants.participants, { isFound, most: limits.mention_all })
  if (isFound) return { user_ids: named.user_ids.sort(), all }
  const ids = new Set(named.user_ids.filter((id) => participants.participating.has(id) && id !== writer.user_id))
  return { user_ids: [...ids].sort(), all }
}

function mayMentionAll(
  writer: Writer,
  participants: number,
  { isFound, most }: { isFound: boolean; most: number },
): boolean {
  const { mention_all } = toPolicy(writer)
  const isAllowed = mention_all === 'members' || (mention_all === 'admins' && canModerate(writer.role))
  if (isAllowed && participants <= most) return true
  // In a text it is text then.
  if (isFound) return false
  if (!isAllowed)
    throw new ChatError('forbidden', { message: 'The policy of the conversation does not let you mention all.' })
  throw new ChatError('conflict', { message: `At most ${most} participants can be mentioned at once.` })
}
