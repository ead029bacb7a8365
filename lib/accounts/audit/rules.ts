import type { Actor } from '../../core/actor.ts'
import type { EndReason } from '../means/rules.ts'
import type { AuditEntry } from './store.ts'

/** The actor of an audit entry and the address; for the command line neither is known. */
export function byActor({ user_id, ip }: Actor): { actor_id?: string; ip?: string } {
  return { ...(user_id && { actor_id: user_id }), ...(ip && { ip }) }
}

/** The entry of sessions that have ended, with the reason. */
export function sessionEnded(reason: EndReason, { detail, ...entry }: Omit<AuditEntry, 'act'>): AuditEntry {
  return { act: 'session.ended', ...entry, detail: { reason, ...detail } }
}
