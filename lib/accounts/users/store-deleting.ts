import type { Cutoff } from '../../core/clock.ts'
import { digest } from '../../core/ids.ts'
import type { Queries } from '../../storage/database.ts'
import { IS_OF_HOST, type Micros, sql } from '../../storage/sql.ts'

/**
 * Deletes a user and all rows that belong to the user alone. The signed tokens of a host that were refused for the user stay
 * refused: no user is made of them.
 *
 * @returns whether the user existed
 */
export async function deleteUser(tx: Queries, id: string): Promise<boolean> {
  const floors = await tx.all<{ subject: string; tokens_after: Micros }>(
    sql`SELECT i.subject, u.tokens_after FROM identities i JOIN users u ON u.id = i.user_id
      WHERE i.user_id = ${id} AND ${IS_OF_HOST}`,
  )
  for (const { subject, tokens_after } of floors) {
    await tx.run(
      sql`INSERT INTO token_floors (subject_hash, tokens_after) VALUES (${digest(subject)}, ${tokens_after})
       ON CONFLICT (subject_hash) DO UPDATE SET tokens_after = excluded.tokens_after
        WHERE token_floors.tokens_after < excluded.tokens_after`,
    )
  }
  return (await tx.run(sql`DELETE FROM users WHERE id = ${id}`)) === 1
}

/** Up to which instant signed tokens of a person are refused whose user was deleted; 0 without one. By primary key. */
export async function findTokenFloor(db: Queries, subject: string): Promise<Micros> {
  const row = await db.get<{ tokens_after: Micros }>(
    sql`SELECT tokens_after FROM token_floors WHERE subject_hash = ${digest(subject)}`,
  )
  return row?.tokens_after ?? 0
}

/** Deletes up to `limit` instants before `before`. By the index of instants. @returns the number deleted */
export function deleteTokenFloorsBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM token_floors WHERE subject_hash IN (
          SELECT subject_hash FROM token_floors WHERE tokens_after < ${before} LIMIT ${limit})`,
  )
}
