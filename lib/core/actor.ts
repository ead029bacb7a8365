import { ChatError } from './errors.ts'

/** The caller: the first argument of every use-case. */
export interface Actor {
  user_id: string
  roles: readonly Role[]
  /** The session of the call, if it has one. */
  session_id?: string
  /** The API key of the call, if it has one, or the server key that acts for the user. */
  key_id?: string
  /** The server key of the call, if it has one. */
  server_key?: string
  /** What the token of the call allows, if it is one that the service has issued. HTTP holds to it. */
  scopes?: readonly Scope[]
  /** What the login of the host, or a token of MCP, allows on `/mcp`. Left out, all that `scopes` allow. */
  mcp_scopes?: readonly McpScope[]
  /** Set for a call over MCP: it counts as one with a key. */
  by_mcp?: true
  /** The address of the client, if known. */
  ip?: string
  /** Set for a bot: it acts by keys, of which its owner is in charge. */
  is_bot?: true
  /** The name of a system actor, from `chat.system`. */
  system?: string
  /** The host's own id of the user, where the host has the login: in hooks. No user of the service reads it. */
  subject?: string
}

/** An incoming hook: the policies of a conversation do not bind it. */
export const isHook = ({ system, is_bot }: Actor): boolean => system !== undefined && is_bot === true

/** Whether an actor is a program: a bot, or a part of the host. */
export const isProgram = ({ is_bot, system }: Actor): boolean => is_bot === true || system !== undefined

/** What a token may allow: each contains what follows it. */
export const SCOPES = ['write', 'read', 'stream'] as const

/** What a token of the service allows. */
export type Scope = (typeof SCOPES)[number]

/** What a caller of MCP may be allowed: to read; to post and to mark as read; to ask the assistant and to stop it. */
export const MCP_SCOPES = ['chat:read', 'chat:write', 'chat:ask'] as const

/** What a caller of MCP is allowed. */
export type McpScope = (typeof MCP_SCOPES)[number]

/** What users see of a system actor. A missing field keeps its value. */
export interface SystemProfile {
  /** Shown instead of the username; an empty text makes it the name of the actor again. */
  display_name?: string
  /** The https URL of a photo, at most 2048 characters; an empty text removes it. */
  avatar_url?: string
}

/** The role of a user in the whole service; the host may configure more (`access.roles`). */
export type Role = 'admin' | 'member' | 'read_only' | 'guest' | (string & {})

/** The form of the name of a role. */
export const ROLE_NAME = /^[a-z][a-z0-9_]{0,31}$/

/** The operator of the machine: the actor of the command line. It is not a user and participates in no conversation. */
export const OPERATOR: Actor = { user_id: '', roles: ['admin'] }

/** The stored form of roles: each once, separated by commas. */
export function joinRoles(roles: readonly string[]): string {
  return [...new Set(roles)].sort().join(',')
}

/** Stored roles as a list. */
export function splitRoles(roles: string): Role[] {
  return roles.split(',')
}

/** Whether an actor is the operator, which participates in no conversation but may create invites. */
export function isOperator({ user_id, roles }: Pick<Actor, 'user_id' | 'roles'>): boolean {
  return user_id === '' && roles.includes('admin')
}

/** Roles in the service of persons: a user with one of them is no guest. */
const ROLES_OF_PERSONS: readonly string[] = ['admin', 'member', 'read_only']

/** Whether an actor is a guest: it has that role, and none of those that every person has one of. */
export function isGuest({ roles }: Pick<Actor, 'roles'>): boolean {
  return roles.includes('guest') && !roles.some((role) => ROLES_OF_PERSONS.includes(role))
}

/** The kind of an actor as an author; `null` for a person. */
export function kindOfAuthor(actor: Pick<Actor, 'roles' | 'is_bot'>): 'guest' | 'bot' | null {
  if (actor.is_bot) return 'bot'
  return isGuest(actor) ? 'guest' : null
}

/** @throws ChatError `forbidden` for a guest, who has no sign-in to change */
export function refuseGuests(actor: Pick<Actor, 'roles'>): void {
  if (isGuest(actor)) throw new ChatError('forbidden', { reason: 'guest' })
}

/** @throws ChatError `forbidden` unless the actor is the operator */
export function assertOperator(actor: Actor): void {
  if (!isOperator(actor)) throw new ChatError('forbidden', { reason: 'role' })
}

/** @throws ChatError `forbidden` for the operator, which has no account and can own nothing */
export function assertUser({ user_id }: Actor): void {
  if (user_id === '') throw new ChatError('forbidden', { reason: 'role' })
}

/** @throws ChatError `forbidden` for the operator, and for a system actor, which participates in no conversation */
export function assertPerson(actor: Actor): void {
  assertUser(actor)
  refuseSystem(actor)
}

/** @throws ChatError `forbidden` for a system actor, which reads no threads and types nothing */
export function refuseSystem({ system }: Actor): void {
  if (system !== undefined) throw new ChatError('forbidden', { reason: 'role' })
}

/**
 * Whether the token of a call, if it is one of the service, allows this.
 *
 * @param needed the least scope that does
 */
export function hasScope({ scopes }: Pick<Actor, 'scopes'>, needed: Scope): boolean {
  const enough: readonly Scope[] = SCOPES.slice(0, SCOPES.indexOf(needed) + 1)
  return !scopes || scopes.some((scope) => enough.includes(scope))
}

/** @throws ChatError `forbidden` unless the actor is an administrator */
export function assertAdmin(actor: Actor): void {
  if (!actor.roles.includes('admin')) throw new ChatError('forbidden', { reason: 'role' })
}

/**
 * Refuses API keys and tokens where an action controls sign-in: a stolen one creates no second key, and locks no user out.
 * A system actor has no sign-in: by a server key it does what it does in the process. A bot has keys alone.
 *
 * @throws ChatError `forbidden` for a call with a key, or with a token of the service, and for a bot
 */
export function refuseKeys({
  key_id,
  scopes,
  system,
  is_bot,
  by_mcp,
}: Pick<Actor, 'key_id' | 'scopes' | 'system' | 'is_bot' | 'by_mcp'>): void {
  if (scopes !== undefined) throw new ChatError('forbidden', { reason: 'scope' })
  if (is_bot || by_mcp) throw new ChatError('forbidden', { reason: 'key' })
  if (key_id !== undefined && system === undefined) throw new ChatError('forbidden', { reason: 'key' })
}
