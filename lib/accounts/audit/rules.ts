import type { Actor } from '../../core/actor.ts'
import type { DisabledWebhook } from '../../storage/disabled-webhooks.ts'
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

/** The entry of a webhook that is disabled by no act on it. It has the host alone: the path of the URL may be a secret. */
export function webhookEnded(reason: string, { id, host, user_id, bot_id }: DisabledWebhook): AuditEntry {
  const of = bot_id ?? user_id
  const detail = { host, ...(of !== null && { user_id: of }), changed: ['status'], reason }
  return { act: 'webhook.changed', subject_id: id, detail }
}
