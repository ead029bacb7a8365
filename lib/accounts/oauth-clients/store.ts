import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { OAuthClient } from './rules.ts'
import type { ClientAuthMethod, ClientKind } from './schema.ts'

/** A client as it is stored. */
export interface ClientRow {
  id: string
  kind: ClientKind
  name: string
  /** As JSON. */
  redirect_uris: string
  auth_methods: string
  jwks_uri: string | null
  created_at: Micros
  /** That of its creation until a user allows the client something. */
  last_used_at: Micros
  /** When a document was read, `null` if it could not be used any more; and until when it is not read again. */
  fetched_at: Micros | null
  fresh_until: Micros | null
}

/** A row as the authorization server uses it. */
export function toClient(row: ClientRow): OAuthClient {
  const redirect_uris: string[] = JSON.parse(row.redirect_uris)
  return {
    client_id: row.id,
    name: row.name,
    ...(row.kind === 'document' && { host: new URL(row.id).host }),
    redirect_uris,
    auth_methods: row.auth_methods.split(',') as ClientAuthMethod[],
    ...(row.jwks_uri !== null && { jwks_uri: row.jwks_uri }),
  }
}

/** By primary key. */
export function findClient(db: Queries, clientId: string): Promise<ClientRow | undefined> {
  return db.get(
    sql`SELECT id, kind, name, redirect_uris, auth_methods, jwks_uri, created_at, last_used_at, fetched_at, fresh_until
      FROM oauth_clients WHERE id = ${clientId}`,
  )
}

/** Stores what a document says, over what it said before. */
export async function saveDocument(
  tx: Queries,
  client: OAuthClient,
  { at, fresh_until }: { at: Micros; fresh_until: Micros },
): Promise<void> {
  const { client_id, name, redirect_uris, auth_methods, jwks_uri = null } = client
  await tx.run(
    sql`INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, jwks_uri, created_at, last_used_at,
          fetched_at, fresh_until)
      VALUES (${client_id}, 'document', ${name}, ${JSON.stringify(redirect_uris)}, ${auth_methods.join()}, ${jwks_uri},
        ${at}, ${at}, ${at}, ${fresh_until})
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris,
        auth_methods = excluded.auth_methods, jwks_uri = excluded.jwks_uri, fetched_at = excluded.fetched_at,
        fresh_until = excluded.fresh_until`,
  )
}

/** Does not read a document until then: what is stored is used meanwhile, or is refused. By primary key. */
export async function postponeDocument(
  tx: Queries,
  clientId: string,
  { until, is_refused }: { until: Micros; is_refused: boolean },
): Promise<void> {
  const fetched = is_refused ? sql`NULL` : sql`fetched_at`
  await tx.run(sql`UPDATE oauth_clients SET fresh_until = ${until}, fetched_at = ${fetched} WHERE id = ${clientId}`)
}

/** Adds a client without a document. */
export async function insertClient(
  tx: Queries,
  {
    client_id,
    kind,
    name,
    redirect_uris,
    created_at,
  }: Pick<OAuthClient, 'client_id' | 'name' | 'redirect_uris'> & Pick<ClientRow, 'kind' | 'created_at'>,
): Promise<void> {
  await tx.run(
    sql`INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, created_at, last_used_at)
      VALUES (${client_id}, ${kind}, ${name}, ${JSON.stringify(redirect_uris)}, 'none', ${created_at}, ${created_at})`,
  )
}

/** Notes that a client is used for what a user has allowed it, at most once in so long. By primary key. */
export async function touchClient(
  tx: Queries,
  clientId: string,
  { at, pause }: { at: Micros; pause: Micros },
): Promise<void> {
  await tx.run(
    sql`UPDATE oauth_clients SET last_used_at = ${at} WHERE id = ${clientId} AND last_used_at < ${at - pause}`,
  )
}

/** Any number: the holder of this lock adds clients. */
const ADDING_LOCK = 7_202_100

/** The number of clients of a kind; until the transaction ends no other call adds one. By oauth_clients_by_kind. */
export async function lockAndCountClients(tx: Queries, kind: ClientKind): Promise<number> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${ADDING_LOCK})`)
  return (await tx.get<{ count: number }>(sql`SELECT count(*) AS count FROM oauth_clients WHERE kind = ${kind}`))!.count
}

/** A client, and how many grants it has. */
export interface CountedClientRow extends ClientRow {
  grants: number
}

/** The clients of the operator, newest first: there are few. Then up to `limit` others that have grants, the latest used first. */
export async function listClients(db: Queries, limit: number): Promise<CountedClientRow[]> {
  const clients = (condition: Sql) =>
    sql`SELECT c.id, c.kind, c.name, c.redirect_uris, c.auth_methods, c.jwks_uri, c.created_at, c.last_used_at, c.fetched_at,
            c.fresh_until, (SELECT count(*) FROM grants g WHERE g.client_id = c.id) AS grants
       FROM oauth_clients c WHERE ${condition}`
  const own = await db.all<CountedClientRow>(
    sql`${clients(sql`c.kind = 'operator'`)} ORDER BY c.created_at DESC, c.id DESC`,
  )
  const others = await db.all<CountedClientRow>(
    sql`${clients(sql`c.kind <> 'operator' AND EXISTS (SELECT 1 FROM grants g WHERE g.client_id = c.id)`)}
       ORDER BY c.last_used_at DESC, c.id DESC LIMIT ${limit}`,
  )
  return [...own, ...others]
}

/** Deletes a client. By primary key. @returns it, if there was one */
export function deleteClient(tx: Queries, clientId: string): Promise<Pick<ClientRow, 'name'> | undefined> {
  return tx.get(sql`DELETE FROM oauth_clients WHERE id = ${clientId} RETURNING name`)
}

/** Ends what users have allowed a client. By grants_of_client. @returns how many grants */
export function deleteGrantsOfClient(tx: Queries, clientId: string): Promise<number> {
  return tx.run(sql`DELETE FROM grants WHERE client_id = ${clientId}`)
}

const UNGRANTED = sql`NOT EXISTS (SELECT 1 FROM grants g WHERE g.client_id = c.id)`

/** Deletes up to `limit` registered clients of before `before` that no user has allowed anything. @returns how many */
export function deleteUnusedRegistrations(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM oauth_clients WHERE id IN (
       SELECT c.id FROM oauth_clients c
       WHERE c.kind = 'registered' AND c.last_used_at < ${before} AND c.last_used_at = c.created_at AND ${UNGRANTED} LIMIT ${limit})`,
  )
}

/** Deletes up to `limit` registered clients that were last used before `before`, and that no user allows anything. @returns how many */
export function deleteOldRegistrations(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM oauth_clients WHERE id IN (
       SELECT c.id FROM oauth_clients c
       WHERE c.kind = 'registered' AND c.last_used_at < ${before} AND ${UNGRANTED} LIMIT ${limit})`,
  )
}

/** Deletes up to `limit` documents that were read before `before`, of clients that no user allows anything. @returns how many */
export function deleteOldDocuments(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM oauth_clients WHERE id IN (
       SELECT c.id FROM oauth_clients c
       WHERE c.kind = 'document' AND c.last_used_at < ${before} AND COALESCE(c.fetched_at, 0) < ${before} AND ${UNGRANTED} LIMIT ${limit})`,
  )
}

/** Notes the id of an assertion. By primary key. @returns false if it was noted before */
export async function insertAssertion(
  tx: Queries,
  { jti_hash, expires_at }: { jti_hash: string; expires_at: Micros },
): Promise<boolean> {
  const added = await tx.run(
    sql`INSERT INTO oauth_assertions (jti_hash, expires_at) VALUES (${jti_hash}, ${expires_at}) ON CONFLICT DO NOTHING`,
  )
  return added > 0
}

/** Deletes up to `limit` ids of assertions that have expired. By oauth_assertions_by_expiry. @returns how many */
export function deleteExpiredAssertions(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM oauth_assertions WHERE jti_hash IN (
       SELECT jti_hash FROM oauth_assertions WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`,
  )
}
