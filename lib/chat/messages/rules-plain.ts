import { type Access, hasServiceRight, OF_PARTICIPANT_ROLE } from '../../core/access.ts'
import { policyOf } from '../../core/policy.ts'
import { mentionsWanted } from '../mentions/rules.ts'
import type { NewPost } from './batch.ts'
import type { LockedTarget } from './store-posts.ts'

/** Whether a post is a root that nothing but its place can refuse, and that concerns no user and no file. */
export function isPlainRoot(access: Access, { where, actor, input }: NewPost): boolean {
  return (
    'conversation_id' in where &&
    input.role !== 'assistant' &&
    !input.stream &&
    !input.generated &&
    input.quote_id === undefined &&
    input.variant_of === undefined &&
    input.invocation_id === undefined &&
    input.mentions === undefined &&
    !input.attachment_ids?.length &&
    hasServiceRight(access, actor.roles, 'post') &&
    mentionsWanted(input) === undefined
  )
}

/** Whether a plain root in this place changes nothing but the counts of all roots. */
export function isPlainPlace({ is_direct, layout, archived, role, policy, frozen_at }: LockedTarget): boolean {
  return (
    is_direct === 0 &&
    layout !== 'assistant' &&
    archived === 0 &&
    POSTING_ROLES.includes(role) &&
    !frozen_at &&
    policyOf(policy, 'post') === undefined
  )
}

/** The roles that may post in every service: own roles that may are not plain. */
export const POSTING_ROLES: readonly string[] = Object.entries(OF_PARTICIPANT_ROLE)
  .filter(([, rights]) => rights.includes('post'))
  .map(([role]) => role)
