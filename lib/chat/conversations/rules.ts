import type { Context } from '../../context.ts'
import { type Access, type Refusal, refusal } from '../../core/access.ts'
import { type Actor, hasScope } from '../../core/actor.ts'
import { CLOSED, isFull, type Joinable, mayJoin, OF_TWO, PAIR } from '../memberships/rules.ts'
import type { CountedRow } from '../memberships/store-conversations.ts'
import { refusalOfAll, tooManyToMention } from '../mentions/rules.ts'
import { ConversationAct, type ParticipantRole } from './schema.ts'

/** What a direct conversation refuses to both: it stays as it is. */
const NOT_IN_DIRECT: ReadonlySet<ConversationAct> = new Set([
  'add',
  'invite',
  'manage',
  'rename',
  'publish',
  'freeze',
  'delete',
])

/** What a direct conversation refuses whose other person has no active account. */
const NOT_IN_CLOSED: ReadonlySet<ConversationAct> = new Set([
  'post',
  'reply',
  'react',
  'attach',
  'pin',
  'ask',
  'mention_all',
])

/** A conversation, as one of its participants sees it. */
export interface Seen
  extends Pick<CountedRow, 'policy' | 'frozen_at' | 'is_direct' | 'is_group' | 'participant_count'> {
  role: ParticipantRole
  /** Whether it is a direct one whose other person has no active account. */
  is_closed: boolean
}

/** Why an act would be refused: by rights, or else by what the conversation is. */
export interface Obstacle extends Partial<Refusal> {
  message?: string
}

/** What an actor may do in each of some conversations at the moment. Those of a list are much alike: each sort is decided once. */
export function actsOf(
  { access, config }: Pick<Context, 'access' | 'config'>,
  actor: Actor,
): (seen: Seen) => ConversationAct[] {
  const most = config.limits.mention_all
  const known = new Map<string, ConversationAct[]>()
  return (seen) => {
    if (!hasScope(actor, 'write')) return []
    const { role, policy, frozen_at, is_direct, is_group, participant_count: count, is_closed } = seen
    const key = [role, policy, frozen_at === null, is_direct, is_closed, is_group, count < PAIR, count > most].join(
      '\n',
    )
    const acts =
      known.get(key) ?? ConversationAct.options.filter((act) => !obstacleTo(access, { ...seen, actor }, act, most))
    known.set(key, acts)
    return acts
  }
}

/** What an actor may do in a conversation that it reads without participating: it may join, or nothing. */
export function actsOfReader(access: Access, actor: Actor, room: Joinable): ConversationAct[] {
  return hasScope(actor, 'write') && mayJoin(access, actor, room) ? ['join'] : []
}

/**
 * Why a participant would be refused an act.
 *
 * @param most how many participants can be mentioned at once: `limits.mention_all`
 * @returns `undefined` if the act would pass
 */
export function obstacleTo(
  access: Access,
  by: Seen & { actor: Actor },
  act: ConversationAct,
  most: number,
): Obstacle | undefined {
  const byRights = refusalOf(access, by, act)
  if (byRights) return byRights
  if (act === 'join') return { message: 'A participant has joined.' }
  if (by.is_direct === 1 && NOT_IN_DIRECT.has(act)) return { message: 'A direct conversation stays as it is.' }
  if (by.is_closed && NOT_IN_CLOSED.has(act)) return CLOSED
  if (isFull(by) && (act === 'add' || act === 'invite')) return OF_TWO
  if (act === 'mention_all' && by.participant_count > most) return tooManyToMention(most)
  return undefined
}

function refusalOf(access: Access, by: Seen & { actor: Actor }, act: ConversationAct): Refusal | undefined {
  switch (act) {
    case 'join':
      return undefined
    case 'ask':
      return refusal(access, by, 'ask') ?? refusalToWrite(access, by)
    case 'mention_all':
      return refusalToWrite(access, by) ?? refusalOfAll(access, by)
    default:
      return refusal(access, by, act)
  }
}

/** Why a participant may neither begin threads nor reply. */
function refusalToWrite(access: Access, by: Seen & { actor: Actor }): Refusal | undefined {
  const refused = refusal(access, by, 'post')
  return refused && refusal(access, by, 'reply') && refused
}
