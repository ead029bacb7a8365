import { isCertificateTrouble } from '../../lib/storage/postgres/tls.ts'
import { messageOf } from '../errors.ts'

/** What to do when PostgreSQL, or a pooler in front of it, accepts no connection. */
export function remedyOfConnection(error: unknown): string {
  const { cause = error } = Object(error) as { cause?: unknown }
  const message = messageOf(cause)
  if (isCertificateTrouble(cause))
    return 'Correct the host or sslrootcert of database.url, or the certificate of the server.'
  // PostgreSQL ends its refusal with it where pg_hba.conf has "hostssl" only.
  if (/, (no encryption|SSL off)$/.test(message))
    return 'Add sslmode=verify-full to database.url, or an entry for this host to pg_hba.conf.'
  if (message === 'The server does not support SSL connections')
    return 'Set ssl = on at the server, or remove sslmode and sslrootcert from database.url.'
  return 'Start it, or correct database.url.'
}
