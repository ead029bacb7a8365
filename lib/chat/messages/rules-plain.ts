import { hasRight, mayWrite, PARTICIPANT_ROLES, type ParticipantRole } from '../../core/access.ts'
import { mentionsWanted } from '../mentions/rules.ts'
import type { NewPost } from './batch.ts'
import type { LockedTarget } from './store-posts.ts'

/** Whether a post is a root that nothing but its place can refuse, and that concerns no user and no file. */
export function isPlainRoot({ where, actor, input }: NewPost): boolean {
  return (
    'conversation_id' in where &&
    input.role !== 'assistant' &&
    input.quote_id === undefined &&
    input.variant_of === undefined &&
    input.mentions === undefined &&
    !input.attachment_ids?.length &&
    mayWrite(actor.roles) &&
    mentionsWanted(input) === undefined
  )
}

/** Whether a plain root in this place changes nothing but the counts of all roots. */
export function isPlainPlace({ is_direct, layout, archived, role }: LockedTarget): boolean {
  return is_direct === 0 && layout !== 'assistant' && archived === 0 && hasRight(role, 'post')
}

/** The roles of participants who may post. */
export const POSTING_ROLES: readonly ParticipantRole[] = PARTICIPANT_ROLES.filter((role) => hasRight(role, 'post'))
