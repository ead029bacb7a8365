import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/** Adds what the sizes lack, in one statement: whatever changes in that time is in both sums, or in neither. */
export const CORRECT_SIZES = sql`INSERT INTO blob_sizes (bytes, released_bytes)
  SELECT stored.bytes - noted.bytes, stored.released_bytes - noted.released_bytes
    FROM (SELECT coalesce(sum(size), 0) AS bytes,
                 coalesce(sum(CASE WHEN released_at IS NOT NULL THEN size END), 0) AS released_bytes FROM blobs) stored,
         (SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(sum(released_bytes), 0) AS released_bytes FROM blob_sizes) noted
   WHERE stored.bytes <> noted.bytes OR stored.released_bytes <> noted.released_bytes`

/**
 * The size of all blobs is the sum of a few rows, not of all blobs. A change adds a row, so that changes do not wait for
 * each other; the sweep of files makes one row of them.
 */
export const blobSizes: Migration = {
  name: '0027-blob-sizes',
  statements: () => [
    // `bytes`: of all blobs; `released_bytes`: of the released ones among them.
    `CREATE TABLE blob_sizes (
      bytes BIGINT NOT NULL,
      released_bytes BIGINT NOT NULL)`,
    CORRECT_SIZES.text,
  ],
}
