import type { Tx } from '../../live/transaction/transaction.ts'
import type { UserRow } from './store.ts'

type Shown = Pick<UserRow, 'id' | 'username' | 'display_name'> & { disabled_at?: UserRow['disabled_at'] }

/** Tells the readers who share a conversation with a user, on every node, if what they read of the user has changed. */
export function announceChange(tx: Tx, before: Shown, after: Shown): void {
  const isNamed = before.username === after.username && before.display_name === after.display_name
  const isActive = !before.disabled_at === !after.disabled_at
  if (!isNamed || !isActive) tx.publishUser(after.id)
}
