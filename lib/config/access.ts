import {
  type Access,
  OF_PARTICIPANT_ROLE,
  type ParticipantRight,
  type Reach,
  SERVICE_RIGHTS,
  type ServiceRight,
  type ServiceRights,
} from '../core/access.ts'

/** The users that a right is for: those of every role, of `member`, or of `admin`; `shared` gives it to members towards some. */
type Audience = 'everyone' | 'members' | 'shared' | 'admins' | 'nobody'

/** As the service always was. */
const DEFAULTS: Record<ServiceRight, Audience> = {
  find_users: 'members',
  add_people: 'members',
  open_direct: 'members',
  create_conversations: 'members',
  browse: 'members',
  invite: 'members',
  upload: 'members',
  ask_assistant: 'members',
  mention_all: 'members',
  keys: 'members',
  post: 'everyone',
  react: 'everyone',
  publish: 'admins',
  moderate: 'admins',
}

/** What a `read_only` user may do as members do. */
const OF_READERS: readonly ServiceRight[] = ['find_users', 'browse', 'keys']

/** How far a right goes for a role of each kind. */
const REACHES: Record<Audience, { admin?: Reach; member?: Reach; guest?: Reach }> = {
  everyone: { admin: 'everyone', member: 'everyone', guest: 'everyone' },
  members: { admin: 'everyone', member: 'everyone' },
  shared: { admin: 'everyone', member: 'shared' },
  admins: { admin: 'everyone' },
  nobody: {},
}

/** The rules of a configuration. */
export function createAccess(): Access {
  const of = (kind: 'admin' | 'member' | 'guest', rights: readonly ServiceRight[] = SERVICE_RIGHTS): ServiceRights =>
    new Map(rights.flatMap((right) => pair(right, REACHES[DEFAULTS[right]][kind])))
  const participant = Object.entries(OF_PARTICIPANT_ROLE).map(
    ([role, rights]) => [role, new Set<ParticipantRight>(rights)] as const,
  )
  return {
    service: new Map([
      ['admin', of('admin')],
      ['member', of('member')],
      ['read_only', of('member', OF_READERS)],
      ['guest', of('guest')],
    ]),
    participant: new Map(participant),
  }
}

function pair(right: ServiceRight, reach: Reach | undefined): [ServiceRight, Reach][] {
  return reach === undefined ? [] : [[right, reach]]
}
