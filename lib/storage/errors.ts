import { ChatError } from '../core/errors.ts'
import { isCertificateTrouble } from './postgres/tls.ts'

/** Primary result codes of SQLite for failures of the storage, not of the caller (https://sqlite.org/rescode.html). */
const SQLITE_TROUBLE: Record<number, string> = {
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  26: 'NOTADB',
}

/**
 * SQLSTATE classes of PostgreSQL that mean "not now": connection, resources, operator, system, read-only standby, and what
 * an operator has taken from the role. A pooler reports the refusals of the server at any statement.
 */
const POSTGRES_TROUBLE = /^(08|28|3D|53|57|58|XX|25006|25P03|42501|55P03|40001|40P01)/

const NETWORK_TROUBLE = /^(ECONN|EPIPE|ENOENT|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_)/

/** The SQLite result code of an error, as a name, for better-sqlite3 (`code`) and node:sqlite (`errcode`) alike. */
export function sqliteTrouble(error: unknown): string | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return SQLITE_TROUBLE[errcode & 0xff]
  const word = typeof code === 'string' && code.startsWith('SQLITE_') ? code.split('_')[1] : undefined
  return word && Object.values(SQLITE_TROUBLE).includes(word) ? word : undefined
}

/** Converts a failure of the storage to `unavailable` or `storage_full`; returns other errors unchanged. */
export function toStorageFailure(error: unknown): unknown {
  if (error instanceof ChatError) return error
  const trouble = sqliteTrouble(error)
  const code = String((error as { code?: unknown })?.code ?? '')
  if (trouble === 'FULL') return new ChatError('storage_full', { cause: error })
  const isUnreachable =
    isFatal(error) || NETWORK_TROUBLE.test(code) || isLostConnection(error) || isCertificateTrouble(error)
  if (trouble || POSTGRES_TROUBLE.test(code) || isUnreachable || isInRecovery(error))
    return new ChatError('unavailable', { cause: error, retry_after_seconds: 1 })
  return error
}

/** A failure of the storage with its reason, for the host that opens it: callers over HTTP must not read it. */
export function withReason(error: unknown): unknown {
  if (!(error instanceof ChatError) || error.cause === undefined) return error
  const { code, cause, retry_after_seconds } = error
  const message = `The database cannot be used now: ${reasonOf(cause)}`
  return new ChatError(code, { message, cause, ...(retry_after_seconds !== undefined && { retry_after_seconds }) })
}

/** A refused connection to a name with several addresses is an empty error that contains one error per address. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || (cause instanceof AggregateError ? reasonOf(cause.errors[0]) : cause.name)
}

/** Whether the connection is closed or dead: no further query may be sent on it. */
export function isConnectionGone(error: unknown): boolean {
  const code = String((error as { code?: unknown })?.code ?? '')
  return /^(08|28|3D|57P0)/.test(code) || isFatal(error) || NETWORK_TROUBLE.test(code) || isLostConnection(error)
}

/** Whether PostgreSQL has ended the session with this error, or a pooler in front of it, in English at least. */
function isFatal(error: unknown): boolean {
  return (error as { severity?: unknown } | undefined)?.severity === 'FATAL'
}

/** Whether a statement of PostgreSQL was ended because it took as long as its transaction allows. */
export function isOutOfTime(error: unknown): boolean {
  return ((error as Error | undefined)?.cause as { code?: unknown } | undefined)?.code === '57014'
}

/** Whether PostgreSQL refuses writes: a standby, a server that is configured so, or one that another has replaced. */
export function isReadOnly(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === '25006' || isInRecovery(error)
}

/** A standby has no unlogged tables. The code of this error has other causes as well, and its text a language. */
function isInRecovery(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '0A000' && routine === 'get_relation_info'
}

/** Whether the disk of PostgreSQL is full. */
export function isDiskFull(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === '53100'
}

/** Whether another connection has the lock that a statement of SQLite needs. */
export function isBusy(error: unknown): boolean {
  return sqliteTrouble(error) === 'BUSY'
}

/** Whether a SQLite file turned out to be damaged. */
export function isDamage(error: unknown): boolean {
  const trouble = sqliteTrouble(error)
  return trouble === 'CORRUPT' || trouble === 'NOTADB'
}

/** Whether a write failed on a unique key: better-sqlite3, node:sqlite and PostgreSQL alike. */
export function isTaken(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown }
  return (
    code === 'SQLITE_CONSTRAINT_UNIQUE' ||
    code === 'SQLITE_CONSTRAINT_PRIMARYKEY' ||
    errcode === 2067 ||
    errcode === 1555 ||
    code === '23505'
  )
}

/** Whether a write failed since what it refers to is gone: better-sqlite3, node:sqlite and PostgreSQL alike. */
export function isReferenceGone(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown }
  return code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || errcode === 787 || code === '23503'
}

/** What a write refers to and is gone, as far as the database says so: PostgreSQL does, in any language. */
export function missingKeys(error: unknown): string[] {
  const { detail } = (error ?? {}) as { detail?: unknown }
  const keys = typeof detail === 'string' ? detail.split(')=(')[1]?.split(')', 1)[0] : undefined
  return keys?.split(', ') ?? []
}

/** Whether PostgreSQL has refused a statement only because an earlier one of its transaction has failed. */
export function isAfterFailure(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === '25P02'
}

/** pg reports these without a code: its pool timed out, or the server closed the connection during a query. */
function isLostConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /timeout exceeded when trying to connect|^Connection terminated|not queryable|after calling end on the pool|Query read timeout/.test(
      error.message,
    )
  )
}
