import type { Tx } from '../../live/transaction/transaction.ts'
import type { UserRow } from './store.ts'

type Shown = Pick<UserRow, 'id' | 'username' | 'display_name' | 'avatar_url' | 'roles'> & {
  disabled_at?: UserRow['disabled_at']
}

/**
 * Tells the readers who share a conversation with a user, on every node, if what they read of the user has changed, and the
 * user's own readers if the roles have.
 */
export function announceChange(tx: Tx, before: Shown, after: Shown): void {
  const isAlike = (['username', 'display_name', 'avatar_url'] as const).every((field) => before[field] === after[field])
  const isActive = !before.disabled_at === !after.disabled_at
  if (!isAlike || !isActive) tx.publishUser(after.id)
  if (before.roles === after.roles) return
  tx.publishRights(after.id)
  // A user who may browse no longer has streams of conversations in which the user does not participate.
  tx.recheckStreams({ user_id: after.id })
}
