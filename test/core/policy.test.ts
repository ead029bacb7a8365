import { describe, expect, it } from 'vitest'
import { createAccess } from '../../lib/config/access.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import { type Act, may, PARTICIPANT_ROLES, type ParticipantRole, refusal, toRefused } from '../../lib/core/access.ts'
import { POLICY_ACTS, POLICY_VALUES, type PolicyValue } from '../../lib/core/policy.ts'

const access = createAccess(parseConfig())
const ACTS = POLICY_ACTS.filter((act) => act !== 'mention_all')

/** The roles that each value names. */
const NAMED: Record<PolicyValue, ParticipantRole[]> = {
  everyone: ['owner', 'admin', 'moderator', 'member', 'viewer'],
  members: ['owner', 'admin', 'moderator', 'member'],
  moderators: ['owner', 'admin', 'moderator'],
  admins: ['owner', 'admin'],
  owners: ['owner'],
  nobody: [],
}

/** The roles that have the right to each act where the policy says nothing of it. */
const BY_ROLE: Record<(typeof ACTS)[number], ParticipantRole[]> = {
  post: NAMED.members,
  reply: NAMED.members,
  react: NAMED.members,
  attach: NAMED.members,
  pin: NAMED.members,
  add: NAMED.admins,
  invite: NAMED.admins,
}

const as = (role: ParticipantRole, policy: object, frozen_at: number | null = null) => {
  const actor = { user_id: 'ada', roles: ['member'] as const }
  return { actor, role, policy: JSON.stringify(policy), frozen_at }
}

describe.each(ACTS)('the policy for %s', (act) => {
  it.each(POLICY_VALUES)('names with %s these roles and no others, whatever their own rights', (value) => {
    const policy = { [act]: value }
    expect(PARTICIPANT_ROLES.filter((role) => may(access, as(role, policy), act))).toEqual(NAMED[value])
    for (const role of PARTICIPANT_ROLES.filter((each) => !NAMED[value].includes(each)))
      expect(refusal(access, as(role, policy), act)).toEqual({ reason: 'policy', right: act })
  })

  it('leaves the other acts to the roles', () => {
    for (const other of ACTS.filter((each) => each !== act)) {
      const policy = { [act]: 'nobody', mention_all: 'nobody', receipts: 'off' }
      expect(PARTICIPANT_ROLES.filter((role) => may(access, as(role, policy), other))).toEqual(BY_ROLE[other])
    }
  })

  it('gives a user who may only read nothing, and binds no system actor', () => {
    const reader = { user_id: 'ada', roles: ['read_only'] as const }
    expect(may(access, { ...as('owner', { [act]: 'everyone' }), actor: reader }, act)).toBe(false)
    const system = { user_id: 'orders', roles: ['member'] as const, system: 'orders' }
    expect(may(access, { ...as('owner', { [act]: 'nobody' }), actor: system }, act)).toBe(true)
  })
})

it('refuses everything in a frozen conversation but moderation and the end of it, and says so last', () => {
  const acts: Act[] = [...ACTS, 'ask', 'moderate', 'manage', 'policy', 'rename', 'freeze', 'delete']
  const goesOn = acts.filter((act) => may(access, as('owner', {}, 1), act))
  expect(goesOn).toEqual(['moderate', 'freeze'])
  expect(toRefused(refusal(access, as('owner', {}, 1), 'post')!)).toMatchObject({ code: 'conflict', reason: 'frozen' })
  expect(refusal(access, as('viewer', {}, 1), 'post')).toEqual({ reason: 'participant_role', right: 'post' })
  expect(refusal(access, as('member', { post: 'admins' }, 1), 'post')).toEqual({ reason: 'policy', right: 'post' })
})
