import type { Queries } from '../storage/database.ts'
import { toUserSignals } from './signals.ts'
import { insertSignal } from './store-signals.ts'

/** Tells the other processes, when the transaction is committed, that the presence of these users has changed. */
export async function announceUsers(tx: Queries, nodeId: string, userIds: string[]): Promise<void> {
  for (const { body } of toUserSignals(userIds)) await insertSignal(tx, nodeId, body)
}
