import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** A started sign-in through a provider. Only digests of its state and of its browser binding are stored. */
export interface StateRow {
  state_hash: string
  provider: string
  binding_hash: string
  verifier: string
  nonce: string
  redirect_to: string | null
  link_user_id: string | null
  expires_at: Micros
}

export async function insertState(tx: Queries, row: StateRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO oauth_states (state_hash, provider, binding_hash, verifier, nonce, redirect_to, link_user_id,
          expires_at)
     VALUES (${row.state_hash}, ${row.provider}, ${row.binding_hash}, ${row.verifier}, ${row.nonce}, ${row.redirect_to},
             ${row.link_user_id}, ${row.expires_at})`,
  )
}

/** Takes a state, which succeeds once; those of other browsers and providers stay. By primary key. */
export function takeState(
  tx: Queries,
  key: Pick<StateRow, 'state_hash' | 'provider' | 'binding_hash'>,
): Promise<Omit<StateRow, keyof typeof key> | undefined> {
  return tx.get(
    sql`DELETE FROM oauth_states
      WHERE state_hash = ${key.state_hash} AND provider = ${key.provider} AND binding_hash = ${key.binding_hash}
      RETURNING verifier, nonce, redirect_to, link_user_id, expires_at`,
  )
}

/** Deletes up to `limit` expired attempts. By expires_at. @returns the number of attempts deleted */
export function deleteExpiredStates(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM oauth_states WHERE state_hash IN (
       SELECT state_hash FROM oauth_states WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`,
  )
}
