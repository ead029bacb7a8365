import type { Tx } from '../../live/transaction/transaction.ts'
import type { AuditActor } from '../audit/store.ts'
import { deleteGrant, type EndedGrant } from './store.ts'

/** How a grant ends, as the audit log has it. */
interface GrantEnd {
  act?: 'grant.revoked' | 'grant.replayed'
  reason: 'user' | 'admin' | 'client' | 'code' | 'limit' | 'replayed'
  /** Missing where the client has caused it. */
  by?: AuditActor
  /** Whose it must be. Default: any user's. */
  user_id?: string
}

/** Ends a grant with its tokens, and what waits by them, with an entry in the audit log. @returns it, if there was one */
export async function endGrant(
  tx: Tx,
  grantId: string,
  { act = 'grant.revoked', reason, by = {}, user_id }: GrantEnd,
): Promise<EndedGrant | undefined> {
  const grant = await deleteGrant(tx, grantId, user_id)
  if (!grant) return undefined
  const detail = { reason, ...(by.actor_id !== grant.user_id && { user_id: grant.user_id }) }
  tx.audit({ act, ...by, subject_id: grantId, detail, names: { client: grant.client_name } })
  tx.recheckStreams({ user_id: grant.user_id })
  return grant
}
