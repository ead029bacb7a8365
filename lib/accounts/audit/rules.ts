import type { Actor } from '../../core/actor.ts'
import type { EndReason } from '../means/rules.ts'
import type { AuditActor, AuditEntry } from './store.ts'

/** The actor of an audit entry, the server key by which it acts, and the address; for the command line none is known. */
export function byActor({ user_id, ip, server_key }: Actor): AuditActor {
  return { ...(user_id && { actor_id: user_id }), ...(ip && { ip }), ...(server_key && { server_key }) }
}

/** The entry of sessions that have ended, with the reason. */
export function sessionEnded(reason: EndReason, { detail, ...entry }: Omit<AuditEntry, 'act'>): AuditEntry {
  return { act: 'session.ended', ...entry, detail: { reason, ...detail } }
}
