import type { ClientBase, CustomTypesConfig } from 'pg'
import { SERVER_STARTED } from '../sql.ts'

/** The maximum time that a request waits for a free connection, or for the server to accept a new one. */
export const CONNECT_TIMEOUT_MS = 4_000

const INT8_OID = 20

/** 64-bit integers become numbers, in these queries only: they are counts and microseconds, far below 2^53. */
export function typesOf({ types }: Pick<typeof import('pg'), 'types'>): CustomTypesConfig {
  return {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8_OID && format !== 'binary' ? Number : types.getTypeParser(oid, format),
  }
}

/** What a new connection leads to. */
export interface Outlook {
  /** Whether it leads to a server, not to a pooler: that reports another process id than the server process has. */
  is_direct: boolean
  /** When the server was started. */
  server: string
  isolation: string
}

/** Looks where a connection leads. @param settings an expression that is evaluated before; $1 is the process id */
export async function lookAt(client: ClientBase, settings = 'NULL'): Promise<Outlook> {
  const { processID } = client as unknown as { processID: number }
  const query = {
    text: `SELECT pg_backend_pid() = $1 AS is_direct, ${SERVER_STARTED.text} AS server, ${settings} AS settings,
                  current_setting('transaction_isolation') AS isolation`,
    values: [processID],
    query_timeout: CONNECT_TIMEOUT_MS,
  }
  return (await client.query<Outlook & { settings: unknown }>(query)).rows[0]!
}
