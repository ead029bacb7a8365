import { ChatError } from '../../core/errors.ts'
import type { PgPool, PgPoolClient } from './pool.ts'

const UNTRUSTED = 'is not signed by a trusted authority; sslrootcert in the URL is the file of an authority of your own'

/**
 * What is wrong with the certificate of a server, by the code of the error
 * (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
 */
const CERTIFICATE_TROUBLE: Record<string, string> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'is not valid for the host in the URL',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
}

/** Whether an error, or its copy by {@link checkOut}, is about the certificate of a server. */
export function isCertificateTrouble(error: unknown): boolean {
  return certificateTrouble(error) !== undefined
}

/**
 * A connection of the pool.
 *
 * @throws ChatError `unavailable`, whatever the reason that there is none: it is never the caller's, or a bug
 */
export async function checkOut(pool: PgPool): Promise<PgPoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    // An address that cannot be read is an error of the configuration, which the opener names.
    if (error instanceof ChatError || Object(error).code === 'ERR_INVALID_URL') throw error
    throw new ChatError('unavailable', { cause: explained(error), retry_after_seconds: 1 })
  }
}

/** An error with the problem of the server's certificate, if that is the reason. */
function explained(error: unknown): unknown {
  const trouble = certificateTrouble(error)
  if (trouble === undefined) return error
  const { code, message } = error as Error & { code: string }
  return Object.assign(new Error(`The certificate of PostgreSQL ${trouble} (${message})`, { cause: error }), { code })
}

function certificateTrouble(error: unknown): string | undefined {
  const code = String((error as { code?: unknown } | undefined)?.code)
  return Object.hasOwn(CERTIFICATE_TROUBLE, code) ? CERTIFICATE_TROUBLE[code] : undefined
}
