import type { Actor } from '../../core/actor.ts'

/** The actor of an audit entry and the address; for the command line neither is known. */
export function byActor({ user_id, ip }: Actor): { actor_id?: string; ip?: string } {
  return { ...(user_id && { actor_id: user_id }), ...(ip && { ip }) }
}
