import type { Actor } from '../../core/actor.ts'

/** Who did something, and from where, as an audit entry says it: of the command line neither is known. */
export function byActor({ user_id, ip }: Actor): { actor_id?: string; ip?: string } {
  return { ...(user_id && { actor_id: user_id }), ...(ip && { ip }) }
}
