import { describe, expect, it } from 'vitest'
import { createAccess } from '../../lib/config/access.ts'
import { createLiveConfig } from '../../lib/config/live.ts'
import { type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { type Reach, RIGHTS_TOWARDS, reachFor, SERVICE_RIGHTS, type ServiceRight } from '../../lib/core/access.ts'
import { type Actor, OPERATOR } from '../../lib/core/actor.ts'

const accessOf = (access: ConfigInput['access'], direct: ConfigInput['direct'] = {}) =>
  createAccess(parseConfig({ access, direct }))

const as = (...roles: string[]): Actor => ({ user_id: 'ada', roles })
const SYSTEM: Actor = { user_id: 'bot', roles: ['member'], system: 'bot' }

/** What each value gives to each role. */
const GIVEN: Record<string, { admin?: Reach; member?: Reach; guest?: Reach }> = {
  everyone: { admin: 'everyone', member: 'everyone', guest: 'everyone' },
  members: { admin: 'everyone', member: 'everyone' },
  shared: { admin: 'everyone', member: 'shared' },
  admins: { admin: 'everyone' },
  nobody: {},
}
const READERS_HAVE = ['find_users', 'browse', 'keys']
const NO_GUEST_HAS = ['create_conversations', 'keys']
const isTowards = (right: ServiceRight) => RIGHTS_TOWARDS.some((each) => each === right)

describe.each(SERVICE_RIGHTS)('access.%s', (right) => {
  const values = Object.keys(GIVEN).filter((value) => value !== 'shared' || isTowards(right))

  it.each(values)('= %s is for its roles', (value) => {
    const direct = right === 'open_direct' ? { enabled: value !== 'nobody' } : {}
    const access = accessOf({ [right]: value }, direct)
    const { admin, member, guest } = GIVEN[value]!
    expect(reachFor(access, as('admin'), right)).toBe(admin)
    expect(reachFor(access, as('member'), right)).toBe(member)
    expect(reachFor(access, as('member', 'admin'), right)).toBe(admin)
    expect(reachFor(access, as('guest'), right)).toBe(NO_GUEST_HAS.includes(right) ? undefined : guest)
    // A role that is not configured counts as `read_only`.
    for (const role of ['read_only', 'sales'])
      expect(reachFor(access, as(role), right)).toBe(READERS_HAVE.includes(right) ? member : undefined)
    for (const free of [OPERATOR, SYSTEM]) expect(reachFor(access, free, right)).toBe('everyone')
  })

  it('can be given to a role of the host, and to guests', () => {
    const given = isTowards(right) ? 'shared' : true
    const access = accessOf({ [right]: 'admins', roles: { sales: { [right]: given }, guest: { [right]: given } } })
    for (const role of NO_GUEST_HAS.includes(right) ? ['sales'] : ['sales', 'guest'])
      expect(reachFor(access, as(role), right)).toBe(isTowards(right) ? 'shared' : 'everyone')
    expect(reachFor(access, as('member'), right)).toBeUndefined()
    const without = accessOf({ [right]: 'everyone', roles: { guest: { [right]: false }, sales: { [right]: false } } })
    for (const role of ['sales', 'guest']) expect(reachFor(without, as(role), right)).toBeUndefined()
    expect(reachFor(without, as('sales', 'member'), right)).toBe('everyone')
  })
})

describe('access.open_direct', () => {
  it.each([
    [{}, 'shared'],
    [{ who: 'everyone' }, 'everyone'],
    [{ enabled: false }, undefined],
  ] as const)('follows direct %j', (direct, reach) => {
    expect(reachFor(accessOf({}, direct), as('member'), 'open_direct')).toBe(reach)
  })

  it('is refused where it contradicts direct', () => {
    const refused = (access: ConfigInput['access'], direct: ConfigInput['direct']) => () => accessOf(access, direct)
    expect(refused({ open_direct: 'members' }, { enabled: false })).toThrow('access.open_direct: must be nobody')
    expect(refused({ open_direct: 'admins' }, { who: 'everyone' })).toThrow('access.open_direct: and direct.who')
    expect(refused({ open_direct: 'members' }, { who: 'everyone' })).not.toThrow()
  })
})

it('takes 32 roles beside that of guests', () => {
  const roles = Object.fromEntries([...Array(32).keys()].map((n) => [`r${n}`, {}]))
  expect(() => parseConfig({ access: { roles: { ...roles, guest: { upload: true } } } })).not.toThrow()
})

it.each([
  [{ roles: { admin: {} } }, 'every service has'],
  [{ roles: { Sales: {} } }, 'names of 1 to 32'],
  [{ roles: { sales: { uploads: true } } }, 'access.roles.sales.uploads'],
  [{ roles: { sales: { find_users: true } } }, 'must be shared, everyone or false'],
  [{ roles: { sales: { upload: 'shared' } } }, 'must be true or false'],
  [{ upload: 'shared' }, 'must be one of everyone, members, admins, nobody'],
  [{ participant_roles: { owner: { rights: [] } } }, 'every service has'],
  [{ participant_roles: { helper: { rights: ['fly'] } } }, 'must be one of post'],
  [{ participant_roles: { helper: {} } }, 'access.participant_roles.helper.rights'],
  [{ roles: Object.fromEntries([...Array(33).keys()].map((n) => [`r${n}`, {}])) }, 'at most 32 roles'],
  [
    { participant_roles: Object.fromEntries([...Array(17).keys()].map((n) => [`r${n}`, { rights: [] }])) },
    'at most 16 roles',
  ],
])('refuses %j', (access, message) => {
  expect(() => accessOf(access as ConfigInput['access'])).toThrow(message)
})

it('follows a reload', () => {
  const live = createLiveConfig(parseConfig())
  const access = createAccess(live.view)
  expect(reachFor(access, as('member'), 'upload')).toBe('everyone')
  live.replace(parseConfig({ access: { upload: 'admins', participant_roles: { helper: { rights: ['react'] } } } }))
  expect(reachFor(access, as('member'), 'upload')).toBeUndefined()
  expect([...access.participant.get('helper')!]).toEqual(['react'])
})
