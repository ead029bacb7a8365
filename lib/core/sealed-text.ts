import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Only the holder of its key can read a sealed text, and it names that key. */
const SEALED = /^v1\.([\w-]{8})\.([\w-]+)$/

/** As NIST SP 800-38D recommends; a random one, since a key seals far less than 2^32 texts. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A key, and the name that sealed texts have it by. */
export interface SealingKey {
  /** 8 characters of base64url. */
  id: string
  /** 32 bytes. */
  key: Uint8Array
}

/**
 * Encrypts a text with AES-256-GCM.
 *
 * @param context where the text belongs, such as its table and its id: elsewhere it does not open
 */
export function sealText({ id, key }: SealingKey, text: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(`${id} ${context}`))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `v1.${id}.${Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url')}`
}

/** The name of the key of a sealed text; `undefined` if it is none. */
export function keyIdOf(sealed: string): string | undefined {
  return SEALED.exec(sealed)?.[1]
}

/** The text; `undefined` if it was not sealed with this key and this context. */
export function openText({ id, key }: SealingKey, sealed: string, context: string): string | undefined {
  const [, keyId, body = ''] = SEALED.exec(sealed) ?? []
  const bytes = Buffer.from(body, 'base64url')
  if (keyId !== id || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(`${id} ${context}`))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
