import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { WebhookRow } from './store.ts'

/** What is sealed of a webhook. */
export type SealedRow = Pick<WebhookRow, 'id' | 'secret' | 'previous_secret' | 'rotated_at' | 'headers'>

/** The columns with a sealed text. */
export const SEALED = ['secret', 'previous_secret', 'headers'] as const

/** The name of the key of a sealed text is its second part, of 8 characters. */
const KEY_ID = { from: 4, length: 8 }

/** The number of sealed texts of webhooks, by the names of their keys. By a scan of the webhooks. */
export async function countSealed(db: Queries): Promise<Map<string, number>> {
  const { from, length } = KEY_ID
  const rows = await db.all<{ key_id: string; count: number }>(
    sql`SELECT key_id, count(*) AS count FROM (
          SELECT substr(secret, ${from}, ${length}) AS key_id FROM webhooks WHERE secret IS NOT NULL
          UNION ALL
          SELECT substr(previous_secret, ${from}, ${length}) FROM webhooks WHERE previous_secret IS NOT NULL
          UNION ALL
          SELECT substr(headers, ${from}, ${length}) FROM webhooks WHERE headers IS NOT NULL) AS sealed
      GROUP BY key_id`,
  )
  return new Map(rows.map(({ key_id, count }) => [key_id, count]))
}

/** Up to `limit` webhooks after one, by id, with a text that another key than this one has sealed. By primary key. */
export function listSealedOtherwise(
  db: Queries,
  keyId: string,
  { after, limit }: { after: string; limit: number },
): Promise<SealedRow[]> {
  const { from, length } = KEY_ID
  return db.all<SealedRow>(
    sql`SELECT id, secret, previous_secret, rotated_at, headers FROM webhooks
      WHERE id > ${after} AND (substr(secret, ${from}, ${length}) <> ${keyId}
            OR substr(previous_secret, ${from}, ${length}) <> ${keyId} OR substr(headers, ${from}, ${length}) <> ${keyId})
      ORDER BY id LIMIT ${limit}`,
  )
}

/** Stores a text that was sealed anew, unless another one stands there by now. By primary key. */
export async function replaceSealed(
  tx: Queries,
  id: string,
  column: (typeof SEALED)[number],
  { before, after }: { before: string; after: string },
): Promise<void> {
  const update = {
    secret: sql`UPDATE webhooks SET secret = ${after} WHERE id = ${id} AND secret = ${before}`,
    previous_secret: sql`UPDATE webhooks SET previous_secret = ${after} WHERE id = ${id} AND previous_secret = ${before}`,
    headers: sql`UPDATE webhooks SET headers = ${after} WHERE id = ${id} AND headers = ${before}`,
  }[column]
  await tx.run(update)
}

/** Forgets the former secrets that were replaced before an instant: they sign no more. By a scan of the webhooks. */
export async function forgetReplaced(tx: Queries, before: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE webhooks SET previous_secret = NULL WHERE previous_secret IS NOT NULL AND rotated_at < ${before}`,
  )
}
