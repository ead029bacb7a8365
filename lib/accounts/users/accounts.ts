import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import type { Account } from './schema.ts'
import { type ShownUser, toUser, type UserRow } from './store.ts'
import { findSubjects } from './store-subjects.ts'

type AccountRow = ShownUser & Pick<UserRow, 'created_at' | 'disabled_at'>

/** Rows as an administrator reads them, in their order. */
export async function toAccounts(db: Queries, rows: readonly AccountRow[]): Promise<Account[]> {
  const ids = rows.map(({ id }) => id)
  const subjects = await findSubjects(db, ids)
  return rows.map((row) => {
    const subject = subjects.get(row.id)
    return {
      ...toUser(row),
      created_at: toInstant(row.created_at),
      ...(row.disabled_at && { disabled_at: toInstant(row.disabled_at) }),
      ...(subject !== undefined && { subject }),
    }
  })
}

/** A row as an administrator reads it. */
export async function toAccount(db: Queries, row: AccountRow): Promise<Account> {
  return (await toAccounts(db, [row]))[0]!
}
