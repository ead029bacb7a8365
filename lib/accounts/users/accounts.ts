import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import type { Photos } from './photos.ts'
import type { Account } from './schema.ts'
import { type ShownUser, toUser, type UserRow } from './store.ts'
import { findSubjects } from './store-subjects.ts'

type AccountRow = ShownUser & Pick<UserRow, 'created_at' | 'disabled_at'>

/** Rows as an administrator reads them, in their order. */
export async function toAccounts(db: Queries, rows: readonly AccountRow[], photos: Photos): Promise<Account[]> {
  const ids = rows.map(({ id }) => id)
  const subjects = await findSubjects(db, ids)
  return rows.map((row) => {
    const subject = subjects.get(row.id)
    return {
      ...toUser(row, photos),
      created_at: toInstant(row.created_at),
      ...(row.disabled_at && { disabled_at: toInstant(row.disabled_at) }),
      ...(subject !== undefined && { subject }),
    }
  })
}

/** A row as an administrator reads it. */
export async function toAccount(db: Queries, row: AccountRow, photos: Photos): Promise<Account> {
  return (await toAccounts(db, [row], photos))[0]!
}
