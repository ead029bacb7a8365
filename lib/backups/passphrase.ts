import { createCipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Recipient } from 'age-encryption'

/** 2^16: 64 MiB for a tenth of a second. age takes up to 2^20. */
const LOG_N = 16
const LABEL = 'age-encryption.org/v1/scrypt'

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/**
 * A passphrase as a recipient of age (https://c2sp.org/age#scrypt-recipient-stanza). That of the package derives the key
 * in JavaScript, which would hold up all requests for a second; this one does in another thread.
 */
export function passphraseRecipient(passphrase: string): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const { Stanza } = await import('age-encryption')
      const salt = randomBytes(16)
      const key = await derive(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), 32, {
        N: 2 ** LOG_N,
        r: 8,
        p: 1,
        maxmem: 2 ** (LOG_N + 11),
      })
      const cipher = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 })
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(LOG_N)]
      return [new Stanza(args, new Uint8Array(body))]
    },
  }
}
