import { countSignIns } from '../../lib/accounts/audit/store.ts'
import { countPaused } from '../../lib/accounts/passwords/store.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { type Finding, ok, warning } from './finding.ts'

/** How many locked accounts are counted. */
const MAX_ACCOUNTS = 10_000

/** How sign-ins went, and how many accounts are locked: many of them are an attack, or a forgotten program. */
export async function checkSignIns(db: Queries, now: number): Promise<Finding[]> {
  const { succeeded, failed } = await countSignIns(db, now)
  const locked = await countPaused(db, now, MAX_ACCOUNTS)
  const told = `In the last 24 hours ${succeeded} sign-ins succeeded and ${failed} failed`
  if (locked === 0) return [ok('sign_ins.counted', `${told}.`)]
  return [
    warning(
      'sign_ins.locked',
      `${told}; ${locked} accounts are locked for some minutes.`,
      'See "chat-server audit list --act login.failed" for the addresses; "chat-server user unlock" unlocks an account.',
    ),
  ]
}
