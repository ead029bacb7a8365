import type { Cutoff } from '../core/clock.ts'
import type { Database, Queries } from '../storage/database.ts'
import { among, type Micros, sql } from '../storage/sql.ts'
import { CLOCK_SKEW, type Decision, type Rate, toDecision, windowAt } from './rules.ts'

/**
 * Takes from a bucket that all processes share. One statement decides and counts, so any number of simultaneous
 * requests cannot exceed the limit; a refused request changes nothing.
 */
export async function takeShared(db: Database, bucket: string, now: Micros, rate: Rate): Promise<Decision> {
  const { interval, last, absurd } = windowAt(now, rate, CLOCK_SKEW)
  const taken = await db.write((tx) =>
    tx.get<{ tat: Micros }>(
      sql`INSERT INTO limit_buckets (bucket, tat) VALUES (${bucket}, ${now + interval})
       ON CONFLICT (bucket) DO UPDATE SET tat =
         CASE WHEN limit_buckets.tat > ${absurd} THEN ${last + interval} WHEN limit_buckets.tat < ${now}
             THEN excluded.tat
              ELSE limit_buckets.tat + ${interval} END
       WHERE limit_buckets.tat <= ${last} OR limit_buckets.tat > ${absurd}
       RETURNING tat`,
    ),
  )
  if (taken) return toDecision(true, taken.tat, now, rate)
  const full = await db.get<{ tat: Micros }>(sql`SELECT tat FROM limit_buckets WHERE bucket = ${bucket}`)
  return toDecision(false, Math.max(full?.tat ?? 0, last + 1), now, rate)
}

/**
 * The full ones of these buckets, each of a single request. One that is full for longer than `latest` was filled before a clock
 * stepped back. By primary key.
 */
export function listFull(db: Queries, buckets: readonly string[], latest: Micros, now: Micros) {
  return db.all<{ bucket: string; tat: Micros }>(
    sql`SELECT bucket, tat FROM limit_buckets WHERE bucket ${among(db, buckets)} AND tat > ${now} AND tat <= ${latest}`,
  )
}

/**
 * Deletes up to `limit` shared buckets without effect. By limit_buckets_by_tat. @returns the number of buckets deleted
 */
export function deleteDryBuckets(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM limit_buckets WHERE bucket IN (SELECT bucket FROM limit_buckets WHERE tat <= ${now} ORDER BY tat
          LIMIT ${limit})`,
  )
}
