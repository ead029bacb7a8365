import type { Context } from '../../context.ts'
import { ROTATION_MICROS, resealed } from './secrets.ts'
import { forgetReplaced, listSealedOtherwise, replaceSealed, SEALED } from './store-secrets.ts'

/** The number of webhooks whose texts are sealed in one transaction. */
const BATCH = 100

/**
 * Seals what is sealed of webhooks with the present key of the service, from one webhook on. What no key opens stays as it is.
 *
 * @returns the last webhook that was looked at; `undefined` when all are
 */
export async function resealSome(
  ctx: Pick<Context, 'db' | 'keyring' | 'now' | 'write'>,
  keyId: string,
  after: string,
): Promise<string | undefined> {
  if (after === '') await ctx.write((tx) => forgetReplaced(tx, ctx.now() - ROTATION_MICROS))
  const rows = await listSealedOtherwise(ctx.db, keyId, { after, limit: BATCH })
  const changes: { id: string; column: (typeof SEALED)[number]; before: string; after: string }[] = []
  for (const { id, ...row } of rows)
    for (const column of SEALED) {
      const before = row[column]
      const sealed = before === null ? undefined : await resealed(ctx, { id, column, sealed: before })
      if (before !== null && sealed !== undefined) changes.push({ id, column, before, after: sealed })
    }
  await ctx.write(async (tx) => {
    for (const { id, column, ...texts } of changes) await replaceSealed(tx, id, column, texts)
  })
  return rows.length < BATCH ? undefined : rows.at(-1)!.id
}
