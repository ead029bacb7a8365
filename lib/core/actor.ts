import { ChatError } from './errors.ts'

/** The caller: every use-case takes it first. */
export interface Actor {
  user_id: string
  roles: readonly Role[]
  /** The session the call came with, when it came with one. */
  session_id?: string
  /** The API key the call came with, when it came with one. */
  key_id?: string
  /** The address the call came from, when it came from one. */
  ip?: string
}

/** What a user may do in the service as a whole. */
export type Role = 'admin' | 'member' | 'read_only'

/** The person at the machine: the command line acts in this name. It is no user and takes part in no conversation. */
export const OPERATOR: Actor = { user_id: '', roles: ['admin'] }

/** Roles as they are stored: each once, separated by commas. */
export function joinRoles(roles: readonly string[]): string {
  return [...new Set(roles)].sort().join(',')
}

/** Stored roles as a list. */
export function splitRoles(roles: string): Role[] {
  return roles.split(',') as Role[]
}

/** Whether a user of the service may change anything at all: `read_only` alone may not. */
export function mayWrite(roles: readonly Role[]): boolean {
  return roles.some((role) => role !== 'read_only')
}

/** Whether an actor is the operator, who takes part in no conversation and yet may invite people. */
export function isOperator({ user_id, roles }: Pick<Actor, 'user_id' | 'roles'>): boolean {
  return user_id === '' && roles.includes('admin')
}

/** @throws ChatError `forbidden` for the operator, who has no account: nothing can be the operator's own */
export function assertPerson({ user_id }: Actor): void {
  if (user_id === '') throw new ChatError('forbidden')
}

/** @throws ChatError `forbidden` unless the actor is an administrator */
export function assertAdmin(actor: Actor): void {
  if (!actor.roles.includes('admin')) throw new ChatError('forbidden')
}

/**
 * Keeps API keys away from what rules over sign-in: a finder of a key creates no second key with it, and locks no user out.
 *
 * @throws ChatError `forbidden` for a call that came with a key
 */
export function refuseKeys(actor: { key_id?: string }): void {
  if (actor.key_id !== undefined) throw new ChatError('forbidden', { message: 'An API key may not do this: sign in.' })
}
