import type { Actor, Role } from './actor.ts'
import { ChatError } from './errors.ts'

/** The roles of participants in a conversation. */
export const PARTICIPANT_ROLES = ['owner', 'admin', 'member', 'viewer'] as const

/** The role of a participant in a conversation. */
export type ParticipantRole = (typeof PARTICIPANT_ROLES)[number]

/**
 * What a participant may do in a conversation. `moderate` is about messages and reactions of others, `manage` about roles
 * and removal, `policy` about everything of `rename` but the title, the ref and the metadata.
 */
export type ParticipantRight =
  | 'post'
  | 'react'
  | 'attach'
  | 'pin'
  | 'ask'
  | 'moderate'
  | 'add'
  | 'invite'
  | 'manage'
  | 'policy'
  | 'rename'
  | 'delete'

const SERVICE_RIGHT_NAMES = [
  'post',
  'react',
  'upload',
  'ask_assistant',
  'create_conversations',
  'open_direct',
  'add_people',
  'invite',
] as const

/** What a user may do in the service. `post` is also about everything that has no right of its own. */
export type ServiceRight = (typeof SERVICE_RIGHT_NAMES)[number]

const OF_SERVICE_ROLE: Record<Role, ReadonlySet<ServiceRight>> = {
  admin: new Set(SERVICE_RIGHT_NAMES),
  member: new Set(SERVICE_RIGHT_NAMES),
  read_only: new Set(),
}

const MEMBER: readonly ParticipantRight[] = ['post', 'react', 'attach', 'pin', 'ask']
const ADMIN: readonly ParticipantRight[] = [...MEMBER, 'moderate', 'add', 'invite', 'manage', 'policy']

const OF_PARTICIPANT_ROLE: Record<ParticipantRole, ReadonlySet<ParticipantRight>> = {
  owner: new Set([...ADMIN, 'rename', 'delete']),
  admin: new Set(ADMIN),
  member: new Set(MEMBER),
  viewer: new Set(),
}

/** The right in the service that an act in a conversation takes as well. */
const SERVICE_RIGHTS: Record<ParticipantRight, ServiceRight> = {
  post: 'post',
  react: 'react',
  attach: 'upload',
  pin: 'post',
  ask: 'ask_assistant',
  moderate: 'post',
  add: 'add_people',
  invite: 'invite',
  manage: 'post',
  policy: 'post',
  rename: 'post',
  delete: 'post',
}

/** Whether one of these roles in the service has a right. */
export function hasServiceRight(roles: readonly Role[], right: ServiceRight): boolean {
  return roles.some((role) => OF_SERVICE_ROLE[role]?.has(right))
}

/** Whether a user of the service may change any data: `read_only` alone may not. */
export function mayWrite(roles: readonly Role[]): boolean {
  return hasServiceRight(roles, 'post')
}

/** Whether a participant with this role has a right in the conversation, whatever the service allows the user. */
export function hasRight(role: ParticipantRole, right: ParticipantRight): boolean {
  return OF_PARTICIPANT_ROLE[role].has(right)
}

/**
 * Whether a participant with the role `role` may give, change or take the role `other`: that takes the right, and every
 * right of the other role.
 *
 * @param right `manage` for a participant, `add` for a new one, `invite` for an invited one
 */
export function mayGive(role: ParticipantRole, right: 'manage' | 'add' | 'invite', other: ParticipantRole): boolean {
  const rights = OF_PARTICIPANT_ROLE[role]
  return rights.has(right) && [...OF_PARTICIPANT_ROLE[other]].every((each) => rights.has(each))
}

/** An actor with the actor's role in a conversation. */
export interface ActorInConversation {
  actor: Actor
  role: ParticipantRole
}

/** Whether an actor may do this in a conversation: by its roles in the service, and by that in the conversation. */
export function may({ actor, role }: ActorInConversation, right: ParticipantRight): boolean {
  return hasServiceRight(actor.roles, SERVICE_RIGHTS[right]) && hasRight(role, right)
}

/** @throws ChatError `forbidden` unless the actor has this right in the service */
export function assertServiceRight({ roles }: Pick<Actor, 'roles'>, right: ServiceRight): void {
  if (!hasServiceRight(roles, right)) throw new ChatError('forbidden')
}

/** @throws ChatError `forbidden` unless the actor {@link may} do this in the conversation */
export function assertMay(by: ActorInConversation, right: ParticipantRight): void {
  if (!may(by, right)) throw new ChatError('forbidden')
}

/** @throws ChatError `forbidden` unless the actor {@link mayGive} this role */
export function assertMayGive(
  by: ActorInConversation,
  right: 'manage' | 'add' | 'invite',
  other: ParticipantRole,
): void {
  assertMay(by, right)
  if (!mayGive(by.role, right, other)) throw new ChatError('forbidden')
}
