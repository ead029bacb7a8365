import { isCertificateTrouble } from '../../lib/storage/postgres/tls.ts'
import { toErrorMessage } from '../errors.ts'

/** What to do about a connection that PostgreSQL refuses, by SQLSTATE. */
const REMEDIES: Record<string, string> = {
  '28P01': 'Correct the user and the password of database.url.',
  '28000': 'Let the user of database.url log in (ALTER ROLE … LOGIN, pg_hba.conf), or name another one.',
  '3D000': 'Create the database, or correct its name in database.url.',
  '42501': 'GRANT CONNECT ON DATABASE … to the user of database.url.',
  '55000': 'End the maintenance of the database: ALTER DATABASE … ALLOW_CONNECTIONS true.',
}

/** What to do when PostgreSQL, or a pooler in front of it, accepts no connection. */
export function remedyOfConnection(error: unknown): string {
  const { cause = error } = Object(error) as { cause?: unknown }
  const message = toErrorMessage(cause)
  if (isCertificateTrouble(cause))
    return 'Correct the host or sslrootcert of database.url, or the certificate of the server.'
  // PostgreSQL ends its refusal with it where pg_hba.conf has "hostssl" only.
  if (/, (no encryption|SSL off)$/.test(message))
    return 'Add sslmode=verify-full to database.url, or an entry for this host to pg_hba.conf.'
  if (message === 'The server does not support SSL connections')
    return 'Set ssl = on at the server, or remove sslmode and sslrootcert from database.url.'
  const { code } = Object(cause) as { code?: unknown }
  return (typeof code === 'string' && REMEDIES[code]) || 'Start it, or correct database.url.'
}
