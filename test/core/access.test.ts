import { describe, expect, it } from 'vitest'
import { createAccess } from '../../lib/config/access.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import {
  hasRight,
  may,
  mayGive,
  PARTICIPANT_ROLES,
  type ParticipantRight,
  type ParticipantRole,
  reachOf,
  refusalInService,
  SERVICE_RIGHTS,
} from '../../lib/core/access.ts'
import type { Role } from '../../lib/core/actor.ts'
import { rightsOf } from '../../lib/core/service-can.ts'

const MEMBER: ParticipantRight[] = ['post', 'react', 'attach', 'pin', 'ask']
const ADMIN: ParticipantRight[] = [...MEMBER, 'moderate', 'add', 'invite', 'manage', 'policy']
const OWNER: ParticipantRight[] = [...ADMIN, 'rename', 'publish', 'freeze', 'delete']
const RIGHTS: Record<(typeof PARTICIPANT_ROLES)[number], ParticipantRight[]> = {
  owner: OWNER,
  admin: ADMIN,
  moderator: [...MEMBER, 'moderate'],
  member: MEMBER,
  viewer: [],
}
const access = createAccess(parseConfig())

const as = (role: ParticipantRole, ...roles: Role[]) => ({ actor: { user_id: 'ada', roles }, role })

describe.each(PARTICIPANT_ROLES)('the participant role %s', (role) => {
  it('has its rights and no others', () => {
    expect(OWNER.filter((right) => hasRight(access, role, right))).toEqual(RIGHTS[role])
  })

  it('may be used by a member and an administrator of the service, and not by a read-only user', () => {
    for (const right of OWNER) {
      expect(may(access, as(role, 'member'), right)).toBe(right !== 'publish' && RIGHTS[role].includes(right))
      expect(may(access, as(role, 'admin'), right)).toBe(RIGHTS[role].includes(right))
      expect(may(access, as(role, 'read_only'), right)).toBe(false)
      expect(may(access, as(role, 'read_only', 'member'), right)).toBe(
        right !== 'publish' && RIGHTS[role].includes(right),
      )
    }
  })
})

/** The roles that each role may give, with the right to `manage`, `add` or `invite`. */
const GIVEN: Record<(typeof PARTICIPANT_ROLES)[number], ParticipantRole[]> = {
  owner: ['owner', 'admin', 'moderator', 'member', 'viewer'],
  admin: ['admin', 'moderator', 'member', 'viewer'],
  moderator: [],
  member: [],
  viewer: [],
}

it.each(PARTICIPANT_ROLES)('%s gives no role with a right that it does not have', (role) => {
  for (const right of ['manage', 'add', 'invite'] as const)
    expect(PARTICIPANT_ROLES.filter((other) => mayGive(access, role, right, other))).toEqual(GIVEN[role])
})

it('gives a user without a role that is configured what read_only has', () => {
  for (const right of SERVICE_RIGHTS) {
    expect(reachOf(access, ['gone'], right)).toBe(reachOf(access, ['read_only'], right))
    expect(reachOf(access, ['gone', 'guest'], right)).toBe(reachOf(access, ['guest'], right))
  }
  expect(reachOf(access, ['gone'], 'browse')).toBe('everyone')
  expect(may(access, as('owner', 'gone'), 'post')).toBe(false)
})

it('gives no guest what no guest may, whatever is configured', () => {
  const open = createAccess(
    parseConfig({ access: { create_conversations: 'everyone', keys: 'everyone', upload: 'everyone' } }),
  )
  const guest = { user_id: 'eve', roles: ['guest'] }
  expect(rightsOf(open, guest)).toEqual({ upload: true, post: true, react: true })
  expect(refusalInService(open, guest, 'keys')).toEqual({ reason: 'guest' })
  expect(refusalInService(open, { ...guest, roles: ['member'] }, 'keys')).toBeUndefined()
})

it('gives an administrator of the service nothing in a conversation beyond the participant role', () => {
  expect(may(access, as('viewer', 'admin'), 'post')).toBe(false)
})
