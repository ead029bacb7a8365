import type { Context } from '../../context.ts'
import { type Access, hasRight, type Refusal, reachFor, toRefused } from '../../core/access.ts'
import { type Actor, isHook } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isNamed, policyOf } from '../../core/policy.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import { type ParticipantSettings, type PolicyColumns, toPolicy } from '../memberships/rules-settings.ts'
import { ALL, chooseNamed, findNames, type WrittenNames } from './rules-find.ts'
import { type KeptMentions, type MentionOrigins, withoutTexts } from './rules-kept.ts'
import type { MentionsInput } from './schema.ts'

/** What a message may mention, before the participants are known. */
export type WantedMentions =
  | { user_ids: string[]; all: boolean }
  /** Found in a text; of an edited one with what it keeps. */
  | { names: WrittenNames; all: boolean; kept?: KeptMentions | undefined }

/** A text, and the mentions that are named beside it. */
export interface MentioningText {
  content: string
  mentions?: MentionsInput | undefined
}

/** What a post or an edit asks for; `undefined` if it mentions no user: then nothing is looked up. */
export function mentionsWanted(
  { content, mentions }: MentioningText,
  kept?: KeptMentions | undefined,
): WantedMentions | undefined {
  if (mentions) {
    const { user_ids = [], all = false } = mentions
    return user_ids.length > 0 || all ? { user_ids, all } : undefined
  }
  const written = findNames(content)
  const names = kept ? withoutTexts(written, kept.texts) : written
  if (names.places.length === 0 && !kept?.all && !kept?.user_ids.length) return undefined
  const all = !kept?.meansAll && names.places.some(({ ends }) => ends.has(ALL))
  return { names, all, kept }
}

/** The origins of a message without mentions; `null` if its text may have none. */
export function originsWithout({ content }: MentioningText): MentionOrigins | null {
  return content.includes('@') ? {} : null
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
  actor: Actor
  role: ParticipantRole
}

/** The users that a message mentions: without its author, in the order of ids. */
export interface Mentioned {
  user_ids: string[]
  all: boolean
  origins: MentionOrigins | null
}

/**
 * Decides which users a message mentions.
 *
 * @throws ChatError `forbidden` if all participants are named without the right to; `conflict` if there are too many
 */
export function decideMentions(
  { access, config }: Pick<Context, 'access' | 'config'>,
  mentions: WantedMentions,
  participants: KnownParticipants,
  writer: Writer,
): Mentioned {
  const mayAll = (isFound: boolean) =>
    mayMentionAll(access, writer, participants.participants, { isFound, most: config.limits.mention_all })
  if ('names' in mentions) {
    const { names: written, kept } = mentions
    const idOf = kept ? new Map([...participants.idOf, ...kept.idOf]) : participants.idOf
    const { user_ids, all: namesAll, names } = chooseNamed(written, idOf, writer.actor.user_id, kept?.user_ids)
    const all = kept?.all || (namesAll && (kept?.meansAll || mayAll(true)))
    const origins: MentionOrigins = {
      ...(Object.keys(names).length > 0 && { names }),
      ...(kept && kept.user_ids.length > 0 && { user_ids: [...kept.user_ids] }),
      ...(kept?.all && { all: true as const }),
    }
    return { user_ids: user_ids.sort(), all, origins }
  }
  const all = mentions.all && mayAll(false)
  const ids = new Set(
    mentions.user_ids.filter((id) => participants.participating.has(id) && id !== writer.actor.user_id),
  )
  const user_ids = [...ids].sort()
  return { user_ids, all, origins: { user_ids, ...(all && { all: true as const }) } }
}

/** Why the service, or the policy of the conversation, does not let a user mention all participants. */
export function refusalOfAll(access: Access, writer: Writer): Refusal | undefined {
  const right = 'mention_all'
  if (reachFor(access, writer.actor, right) === undefined) return { reason: 'role', right }
  if (isHook(writer.actor)) return undefined
  const isNamedThere = isNamed(toPolicy(writer).mention_all, (each) => hasRight(access, writer.role, each))
  if (isNamedThere) return undefined
  // Unset, the right of the role decides.
  return { reason: policyOf(writer.policy, right) === undefined ? 'participant_role' : 'policy', right }
}

/** Why that many participants are not mentioned at once. */
export const tooManyToMention = (most: number) => ({
  message: `At most ${most} participants can be mentioned at once.`,
})

function mayMentionAll(
  access: Access,
  writer: Writer,
  participants: number,
  { isFound, most }: { isFound: boolean; most: number },
): boolean {
  const refused = refusalOfAll(access, writer)
  if (!refused && participants <= most) return true
  // In a text it is text then.
  if (isFound) return false
  if (refused) throw toRefused(refused)
  throw new ChatError('conflict', tooManyToMention(most))
}
