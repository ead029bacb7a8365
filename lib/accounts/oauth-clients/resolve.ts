import type { Context } from '../../context.ts'
import { spendDocument } from '../../limits/spending.ts'
import { OAuthError } from './failures.ts'
import { isDocumentUrl, MAX_STALE_AGE, type OAuthClient, RETRY_AGE } from './rules.ts'
import { MAX_CLIENT_ID_LENGTH } from './schema.ts'
import { type ClientRow, findClient, postponeDocument, saveDocument, toClient } from './store.ts'

/**
 * The client of an id, by what is stored: nothing is called for a caller who is not signed in. What a client needs to go on using
 * what a user has allowed it does not depend on when its document was read last.
 */
export async function findStoredClient(ctx: Pick<Context, 'db'>, clientId: string): Promise<OAuthClient | undefined> {
  const row = clientId.length > MAX_CLIENT_ID_LENGTH ? undefined : await findClient(ctx.db, clientId)
  return row && toClient(row)
}

/**
 * The client of an id for a user who is signed in: a document that is new or was read long ago is read. While its host fails, what
 * it said last is used for seven days.
 *
 * @throws OAuthError `invalid_client` with the reason, 400; ChatError `rate_limited` for a user who names many new ones
 */
export async function resolveClient(ctx: Context, clientId: string, userId: string): Promise<OAuthClient> {
  if (clientId.length > MAX_CLIENT_ID_LENGTH) throw unknownClient()
  const row = await findClient(ctx.db, clientId)
  if (row && isCurrent(row, ctx.now())) {
    if (isRefused(row)) throw unusable('it could not be used a few minutes ago')
    return toClient(row)
  }
  if (!isDocumentUrl(clientId)) throw unknownClient()
  if (!row) await spendDocument(ctx, userId)
  const document = await ctx.accounts.clientDocuments.fetch(clientId)
  const at = ctx.now()
  if ('client' in document) {
    await ctx.write((tx) => saveDocument(tx, document.client, { at, fresh_until: at + document.age }))
    return document.client
  }
  const isUsable = row !== undefined && document.is_passing && at - (row.fetched_at ?? 0) < MAX_STALE_AGE
  // Its host is not asked at each visit.
  if (row) await ctx.write((tx) => postponeDocument(tx, clientId, { until: at + RETRY_AGE, is_refused: !isUsable }))
  if (!isUsable) throw unusable(document.problem)
  return toClient(row)
}

const isCurrent = ({ kind, fresh_until }: ClientRow, now: number) => kind !== 'document' || now < (fresh_until ?? 0)

/** One that was read when its document could not be used any more. */
const isRefused = ({ kind, fetched_at }: ClientRow) => kind === 'document' && fetched_at === null

const unusable = (problem: string) =>
  new OAuthError('invalid_client', `The document of this application cannot be used: ${problem}.`, 400)

const unknownClient = () => new OAuthError('invalid_client', 'This application is not known here.', 400)
