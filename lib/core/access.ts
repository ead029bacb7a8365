import { type Actor, isGuest, isOperator, type Role } from './actor.ts'
import { ChatError, type ErrorReason } from './errors.ts'
import { isNamed, type PolicyAct, policyOf } from './policy.ts'

/** The roles of participants that every service has. */
export const PARTICIPANT_ROLES = ['owner', 'admin', 'moderator', 'member', 'viewer'] as const

/** The role of a participant in a conversation; the host may configure more (`access.participant_roles`). */
export type ParticipantRole = (typeof PARTICIPANT_ROLES)[number] | (string & {})

/** The rights in a conversation, those of a member first. */
export const PARTICIPANT_RIGHTS = [
  'post',
  'react',
  'attach',
  'pin',
  'ask',
  'moderate',
  'add',
  'invite',
  'manage',
  'policy',
  'rename',
  'publish',
  'freeze',
  'delete',
] as const

/**
 * What a participant may do in a conversation. `moderate` is about messages and reactions of others, `manage` about roles
 * and removal, `policy` about everything of `rename` but the title, the ref and the metadata.
 */
export type ParticipantRight = (typeof PARTICIPANT_RIGHTS)[number]

/** The rights that are about other persons: they may reach only persons of a common conversation. */
export const RIGHTS_TOWARDS = ['find_users', 'add_people', 'open_direct'] as const

/** The rights in the service that can be configured. */
export const SERVICE_RIGHTS = [
  ...RIGHTS_TOWARDS,
  'create_conversations',
  'browse',
  'invite',
  'upload',
  'ask_assistant',
  'mention_all',
  'keys',
  'post',
  'react',
  'publish',
  'moderate',
] as const

/** What a user may do in the service. */
export type ServiceRight = (typeof SERVICE_RIGHTS)[number]

/** How far a right goes: towards persons of a common conversation, or everybody. */
export const REACHES = ['shared', 'everyone'] as const
export type Reach = (typeof REACHES)[number]

/** The rights of a role in the service; a missing one is not given. */
export type ServiceRights = ReadonlyMap<ServiceRight, Reach>

/** What the roles of this service may do, as its configuration says at the moment. */
export interface Access {
  /** By the name of a role in the service. */
  readonly service: ReadonlyMap<string, ServiceRights>
  /** By the name of a role in a conversation. */
  readonly participant: ReadonlyMap<string, ReadonlySet<ParticipantRight>>
}

const MEMBER: readonly ParticipantRight[] = ['post', 'react', 'attach', 'pin', 'ask']
const ADMIN: readonly ParticipantRight[] = [...MEMBER, 'moderate', 'add', 'invite', 'manage', 'policy']

/** The rights of the roles that every conversation has. */
export const OF_PARTICIPANT_ROLE: Record<(typeof PARTICIPANT_ROLES)[number], readonly ParticipantRight[]> = {
  owner: [...ADMIN, 'rename', 'publish', 'freeze', 'delete'],
  admin: ADMIN,
  moderator: [...MEMBER, 'moderate'],
  member: MEMBER,
  viewer: [],
}

/** The right in the service that an act in a conversation takes as well; without one, any but a `read_only` user may. */
const TAKES: Partial<Record<ParticipantRight, ServiceRight>> = {
  post: 'post',
  react: 'react',
  attach: 'upload',
  ask: 'ask_assistant',
  add: 'add_people',
  invite: 'invite',
  publish: 'publish',
}

/** How far a right of these roles goes; `undefined` if none of them has it. Without a role that is configured, as of `read_only`. */
export function reachOf(access: Access, roles: readonly Role[], right: ServiceRight): Reach | undefined {
  let reach: Reach | undefined
  let isKnown = false
  for (const role of roles) {
    const rights = access.service.get(role)
    const given = rights?.get(right)
    if (given === 'everyone') return given
    reach ??= given
    isKnown ||= rights !== undefined
  }
  return isKnown ? reach : access.service.get('read_only')?.get(right)
}

/** What no guest may, whatever is configured: what guests make would have no person who answers for it. */
export const OF_PERSONS: readonly ServiceRight[] = ['create_conversations', 'keys']

/** How far a right goes of an actor; the operator and system actors are not asked. */
export function reachFor(access: Access, actor: Actor, right: ServiceRight): Reach | undefined {
  if (isFree(actor)) return 'everyone'
  return OF_PERSONS.includes(right) && isGuest(actor) ? undefined : reachOf(access, actor.roles, right)
}

const isFree = (actor: Actor) => actor.system !== undefined || isOperator(actor)

/** The narrower of two reaches. */
export function narrower(one: Reach | undefined, other: Reach | undefined): Reach | undefined {
  return one === 'everyone' ? other : other && one
}

/** Whether one of these roles in the service has a right, towards some persons at least. */
export function hasServiceRight(access: Access, roles: readonly Role[], right: ServiceRight): boolean {
  return reachOf(access, roles, right) !== undefined
}

/** Whether a user of the service may change any data: `read_only` and roles that are not configured may not. */
export function mayWrite(access: Access, roles: readonly Role[]): boolean {
  return roles.some((role) => role !== 'read_only' && access.service.has(role))
}

/** Whether a participant with this role has a right in the conversation, whatever the service allows the user. */
export function hasRight(access: Access, role: string, right: ParticipantRight): boolean {
  return access.participant.get(role)?.has(right) ?? false
}

/**
 * Whether a participant with the role `role` may give, change or take the role `other`: that takes the right, and every
 * right of the other role.
 *
 * @param right `manage` for a participant, `add` for a new one, `invite` for an invited one
 */
export function mayGive(access: Access, role: string, right: 'manage' | 'add' | 'invite', other: string): boolean {
  return hasRight(access, role, right) && hasEveryRight(access, role, other)
}

/** Whether a role has every right of another one. */
export function hasEveryRight(access: Access, role: string, other: string): boolean {
  return [...(access.participant.get(other) ?? [])].every((each) => hasRight(access, role, each))
}

/** Whether a role has no right that a member does not have: a guest can have it. */
export const isAtMostMember = (access: Access, role: string) => hasEveryRight(access, 'member', role)

/** An actor with the actor's role in a conversation. */
export interface ActorInConversation {
  actor: Actor
  role: ParticipantRole
  /** The policy of the conversation, as it is stored; `null` or missing: the role decides. */
  policy?: string | null
  /** Since when the conversation is frozen; `null` or missing: it is not. */
  frozen_at?: number | null
}

/** What a participant does in a conversation: what a right is about, or what the policy decides about. */
export type Act = ParticipantRight | Exclude<PolicyAct, 'mention_all'>

/** Why rights refuse an act, as a failure has it. */
export interface Refusal {
  reason: ErrorReason
  right?: string
}

/**
 * Why an actor may not do this in a conversation: by its roles in the service, by that in the conversation or its policy,
 * and by its being frozen.
 *
 * @returns `undefined` if the actor may
 */
export function refusal(access: Access, by: ActorInConversation, act: Act): Refusal | undefined {
  return refusalByRoles(access, by.actor, act) ?? refusalByPlace(access, by, { act, right: rightOf(act) })
}

/** Why the roles of an actor in the service refuse an act in every conversation; without an act, any change. */
export function refusalByRoles(access: Access, actor: Actor, act?: Act): Refusal | undefined {
  return refusalInService(access, actor, act && TAKES[rightOf(act)])
}

const rightOf = (act: Act): ParticipantRight => (act === 'reply' ? 'post' : act)

/** In a frozen conversation only these go on. */
const GOES_ON: ReadonlySet<Act> = new Set(['moderate', 'freeze'])

function refusalByPlace(
  access: Access,
  { actor, role, policy, frozen_at }: ActorInConversation,
  { act, right }: { act: Act; right: ParticipantRight },
): Refusal | undefined {
  // System actors participate in no conversation: no policy is about them.
  const value = actor.system === undefined ? policyOf(policy, act) : undefined
  if (value === undefined && !hasRight(access, role, right)) return { reason: 'participant_role', right }
  if (value !== undefined && !isNamed(value, (each) => hasRight(access, role, each)))
    return { reason: 'policy', right: act }
  return frozen_at && !GOES_ON.has(act) ? { reason: 'frozen' } : undefined
}

/** Why the roles of an actor do not have a right in the service; without a right, why it may change nothing. */
export function refusalInService(access: Access, actor: Actor, right: ServiceRight | undefined): Refusal | undefined {
  if (right === undefined) return mayWrite(access, actor.roles) ? undefined : { reason: 'role' }
  if (reachFor(access, actor, right) !== undefined) return undefined
  return OF_PERSONS.includes(right) && isGuest(actor) ? { reason: 'guest' } : { reason: 'role', right }
}

/** The failure of a refused act: `conflict` in a frozen conversation, else `forbidden`. */
export function toRefused(refused: Refusal): ChatError {
  return new ChatError(refused.reason === 'frozen' ? 'conflict' : 'forbidden', refused)
}

/** @throws ChatError `forbidden`, `conflict` if there is a reason */
function refuseFor(refused: Refusal | undefined): void {
  if (refused) throw toRefused(refused)
}

/** Whether an actor may do this in a conversation. */
export function may(access: Access, by: ActorInConversation, act: Act): boolean {
  return refusal(access, by, act) === undefined
}

/** @throws ChatError `forbidden` unless the actor has this right in the service */
export function assertServiceRight(access: Access, actor: Actor, right: ServiceRight): void {
  refuseFor(refusalInService(access, actor, right))
}

/** @throws ChatError `forbidden` for a user whose roles refuse this act, or any change: `read_only` */
export function assertMayWrite(access: Access, actor: Actor, act?: Act): void {
  refuseFor(refusalByRoles(access, actor, act))
}

/** @throws ChatError `forbidden`, `conflict` unless the actor {@link may} do this in the conversation */
export function assertMay(access: Access, by: ActorInConversation, act: Act): void {
  refuseFor(refusal(access, by, act))
}

/** @throws ChatError `forbidden` unless a participant with this role {@link hasRight} */
export function assertHasRight(access: Access, role: string, right: ParticipantRight): void {
  if (!hasRight(access, role, right)) refuseFor({ reason: 'participant_role', right })
}

/** @throws ChatError `forbidden` unless the actor {@link mayGive} these roles */
export function assertMayGive(
  access: Access,
  by: ActorInConversation,
  right: 'manage' | 'add' | 'invite',
  ...others: string[]
): void {
  assertMayWrite(access, by.actor, right)
  if (!others.every((other) => hasEveryRight(access, by.role, other))) refuseFor({ reason: 'participant_role', right })
  assertMay(access, by, right)
}

/**
 * Whether an actor may delete a message, or restore it: the own one of an actor who may post, or whose role may, and those
 * of others with `moderate`.
 *
 * @param message `author`: the user whose own it counts as
 */
export function mayModerate(access: Access, by: ActorInConversation, message: { author: string | null }): boolean {
  return may(access, by, 'moderate') || (message.author === by.actor.user_id && mayWriteHere(access, by))
}

function mayWriteHere(access: Access, { frozen_at, ...by }: ActorInConversation): boolean {
  if (frozen_at) return false
  return may(access, { ...by, policy: null }, 'post') || may(access, by, 'post') || may(access, by, 'reply')
}

/** @throws ChatError `forbidden`, `conflict` unless the actor {@link mayModerate} this message */
export function assertMayModerate(access: Access, by: ActorInConversation, message: { author: string | null }): void {
  if (mayModerate(access, by, message)) return
  const isOwn = message.author === by.actor.user_id
  refuseFor(refusal(access, { ...by, policy: null }, isOwn ? 'post' : 'moderate'))
}

/** @throws ChatError `validation_failed` unless each is the name of a role that there is */
export function assertRoles(known: ReadonlyMap<string, unknown>, path: string, roles: readonly string[]): void {
  const unknown = roles.find((role) => !known.has(role))
  if (unknown === undefined) return
  const message = `must be one of ${[...known.keys()].join(', ')}`
  throw new ChatError('validation_failed', { errors: [{ path, message }] })
}
