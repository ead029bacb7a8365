import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import {
  type Access,
  OF_PARTICIPANT_ROLE,
  PARTICIPANT_RIGHTS,
  type ParticipantRight,
  type Reach,
  SERVICE_RIGHTS,
  type ServiceRight,
  type ServiceRights,
} from '../core/access.ts'
import { ROLE_NAME } from '../core/actor.ts'
import { flag, reloadableKey as key, oneOf, section } from './key.ts'
import { derived } from './live.ts'

/** How many roles of its own a host may have, in the service and in conversations. */
const MAX_ROLES = { service: 32, participant: 16 }

/** Names that a role of the host's cannot have. */
const RESERVED = ['admin', 'member', 'read_only', 'operator', 'system']

const AUDIENCES = ['everyone', 'members', 'admins', 'nobody'] as const
const AUDIENCES_TOWARDS = ['everyone', 'members', 'shared', 'admins', 'nobody'] as const
type Audience = (typeof AUDIENCES_TOWARDS)[number]

const audience = oneOf(...AUDIENCES)
const audienceTowards = oneOf(...AUDIENCES_TOWARDS)

const nameOf = (reserved: readonly string[]) =>
  v.pipe(
    v.string(),
    v.regex(ROLE_NAME, 'must have names of 1 to 32 of a-z, 0-9 and _, with a letter first'),
    v.check((name) => !reserved.includes(name), 'must not have the name of a role that every service has'),
  )

const reach = v.union([oneOf('shared', 'everyone'), v.literal(false)], 'must be shared, everyone or false')

const RoleRights = v.strictObject({
  find_users: v.optional(reach),
  add_people: v.optional(reach),
  open_direct: v.optional(reach),
  create_conversations: v.optional(flag),
  browse: v.optional(flag),
  invite: v.optional(flag),
  upload: v.optional(flag),
  ask_assistant: v.optional(flag),
  mention_all: v.optional(flag),
  keys: v.optional(flag),
  post: v.optional(flag),
  react: v.optional(flag),
  publish: v.optional(flag),
  moderate: v.optional(flag),
} satisfies Record<ServiceRight, unknown>)

const ParticipantRoleRights = v.strictObject({
  rights: v.array(oneOf(...PARTICIPANT_RIGHTS), 'must be a list of rights'),
})

/** What roles may do. */
export const AccessSection = section({
  find_users: key(
    audienceTowards,
    'members',
    'Find users by name who share no conversation with the caller; shared: only those of a common private one.',
  ),
  add_people: key(audienceTowards, 'members', 'Add users to conversations.'),
  open_direct: key(
    audienceTowards,
    undefined,
    'Open direct conversations. Default: as direct.enabled and direct.who say, which is shared.',
  ),
  create_conversations: key(audience, 'members', 'Create conversations.'),
  browse: key(audience, 'members', 'Read the list of public conversations, read the open ones, and join.'),
  invite: key(audience, 'members', 'Create invites to conversations.'),
  upload: key(audience, 'members', 'Upload files.'),
  ask_assistant: key(audience, 'members', 'Ask the assistant.'),
  mention_all: key(audience, 'members', 'Mention all participants, where the policy of the conversation lets them.'),
  keys: key(audience, 'members', 'Create API keys and bots of their own.'),
  post: key(audience, 'everyone', 'Post messages, and edit and delete their own.'),
  react: key(audience, 'everyone', 'React to messages.'),
  publish: key(audience, 'admins', 'Make conversations public.'),
  moderate: key(audience, 'admins', 'Moderate the whole service.'),
  roles: key(
    v.pipe(
      v.record(nameOf(RESERVED), RoleRights),
      v.check(
        (roles) => Object.keys(roles).filter((name) => name !== 'guest').length <= MAX_ROLES.service,
        `must have at most ${MAX_ROLES.service} roles beside guest`,
      ),
    ),
    {},
    'Roles of your own, and the rights of each by name: true, or for find_users, add_people and open_direct shared or everyone. guest changes those of guests.',
  ),
  participant_roles: key(
    v.pipe(
      v.record(nameOf(Object.keys(OF_PARTICIPANT_ROLE)), ParticipantRoleRights),
      v.maxEntries(MAX_ROLES.participant, `must have at most ${MAX_ROLES.participant} roles`),
    ),
    {},
    'Roles of your own in conversations, each with the list of its rights.',
  ),
})

type AccessConfig = Config['access']

/** Values of rights that contradict older keys. */
export function accessProblems({ access, direct }: Config): { key: string; message: string }[] {
  const { open_direct } = access
  if (open_direct === undefined) return []
  if (!direct.enabled && open_direct !== 'nobody')
    return [{ key: 'access.open_direct', message: 'must be nobody where direct.enabled is false' }]
  if (direct.who === 'everyone' && open_direct !== 'members')
    return [
      { key: 'access.open_direct', message: 'and direct.who = everyone contradict each other: leave out the latter' },
    ]
  return []
}

/** The rules in effect: they follow each reload. */
export function createAccess(config: Pick<Config, 'access' | 'direct'>): Access {
  const rules = derived(
    () => config.access,
    (access) => compile(access, config.direct),
  )
  return {
    get service() {
      return rules().service
    },
    get participant() {
      return rules().participant
    },
  }
}

/** How far a right goes for each role that every service has. */
const REACHES: Record<Audience, { admin?: Reach; member?: Reach; guest?: Reach }> = {
  everyone: { admin: 'everyone', member: 'everyone', guest: 'everyone' },
  members: { admin: 'everyone', member: 'everyone' },
  shared: { admin: 'everyone', member: 'shared' },
  admins: { admin: 'everyone' },
  nobody: {},
}

/** What a `read_only` user may do as members do. */
const OF_READERS: readonly ServiceRight[] = ['find_users', 'browse', 'keys']

function compile(access: AccessConfig, direct: Config['direct']): Access {
  const audiences: Record<ServiceRight, Audience> = { ...access, open_direct: access.open_direct ?? ofDirect(direct) }
  const of = (kind: 'admin' | 'member' | 'guest', rights: readonly ServiceRight[] = SERVICE_RIGHTS) =>
    given(rights.map((right) => [right, REACHES[audiences[right]][kind]]))
  const { guest, ...own } = access.roles
  const ofParticipants = Object.entries(access.participant_roles).map(([role, { rights }]) => [role, rights] as const)
  return {
    service: new Map([
      ['admin', of('admin')],
      ['member', of('member')],
      ['read_only', of('member', OF_READERS)],
      ['guest', new Map([...without(of('guest'), guest), ...ofRole(guest)])],
      ...Object.entries(own).map(([role, rights]) => [role, ofRole(rights)] as const),
    ]),
    participant: new Map(
      [...Object.entries(OF_PARTICIPANT_ROLE), ...ofParticipants].map(([role, rights]) => [
        role,
        new Set<ParticipantRight>(rights),
      ]),
    ),
  }
}

function ofDirect({ enabled, who }: Config['direct']): Audience {
  if (!enabled) return 'nobody'
  return who === 'everyone' ? 'members' : 'shared'
}

type RightsOfRole = AccessConfig['roles'][string]

/** The rights that a section of one role gives. */
function ofRole(rights: RightsOfRole | undefined): ServiceRights {
  return given(
    SERVICE_RIGHTS.map((right) => {
      const value = rights?.[right]
      return [right, value === true ? 'everyone' : value || undefined]
    }),
  )
}

function without(rights: ServiceRights, changed: RightsOfRole | undefined): [ServiceRight, Reach][] {
  return [...rights].filter(([right]) => changed?.[right] === undefined)
}

function given(rights: [ServiceRight, Reach | undefined][]): ServiceRights {
  return new Map(rights.filter((right): right is [ServiceRight, Reach] => right[1] !== undefined))
}
