import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import type { Photos } from './photos.ts'
import type { Account } from './schema.ts'
import { type ShownUser, toUser, type UserRow } from './store.ts'
import { findOwners } from './store-bots.ts'
import { findSubjects } from './store-subjects.ts'

type AccountRow = ShownUser & Pick<UserRow, 'created_at' | 'disabled_at'>

/** Rows as an administrator reads them, in their order. */
export async function toAccounts(db: Queries, rows: readonly AccountRow[], photos: Photos): Promise<Account[]> {
  const ids = rows.map(({ id }) => id)
  const subjects = await findSubjects(db, ids)
  const bots = rows.flatMap(({ id, kind }) => (kind === 'bot' ? id : []))
  const owners = bots.length > 0 ? await findOwners(db, bots) : undefined
  return rows.map((row) => {
    const subject = subjects.get(row.id)
    const owner_id = owners?.get(row.id)
    return {
      ...toUser(row, photos),
      created_at: toInstant(row.created_at),
      ...(row.disabled_at && { disabled_at: toInstant(row.disabled_at) }),
      ...(subject !== undefined && { subject }),
      ...(owner_id !== undefined && { owner_id }),
    }
  })
}

/** A row as an administrator reads it. */
export async function toAccount(db: Queries, row: AccountRow, photos: Photos): Promise<Account> {
  return (await toAccounts(db, [row], photos))[0]!
}
