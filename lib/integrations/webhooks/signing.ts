import { createHmac, createPrivateKey, createPublicKey, randomBytes, sign as signBytes } from 'node:crypto'

/** How a call is signed: with a secret that both sides have, or with a key whose public half verifies it. */
export type SignatureScheme = 'v1' | 'v1a'

const PREFIX: Record<SignatureScheme, string> = { v1: 'whsec_', v1a: 'whsk_' }

const SECRET_BYTES = 32

/** What stands before the 32 bytes of a private and of a public key of Ed25519 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI_BYTES = 12

/** A call as Standard Webhooks signs it. */
export interface SignedCall {
  /** The id of the event: the same in each attempt. */
  id: string
  /** When the attempt begins, in seconds since 1970. */
  timestamp: number
  body: string
}

/** A new secret, as text that names its scheme. */
export function newWebhookSecret(scheme: SignatureScheme): string {
  return PREFIX[scheme] + randomBytes(SECRET_BYTES).toString('base64')
}

/** The public half of a secret of `v1a`, in the form of Standard Webhooks; `undefined` for one of `v1`. */
export function publicKeyOf(secret: string): string | undefined {
  if (schemeOf(secret) === 'v1') return undefined
  const der = createPublicKey(privateKeyOf(secret)).export({ format: 'der', type: 'spki' })
  return `whpk_${der.subarray(SPKI_BYTES).toString('base64')}`
}

/**
 * The value of the header `webhook-signature` (Standard Webhooks 1.0).
 *
 * @param secrets each signs: after a rotation the former one does, too, so that receivers can change when they like
 */
export function signCall({ id, timestamp, body }: SignedCall, secrets: readonly string[]): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`)
  return secrets.map((secret) => `${schemeOf(secret)},${signatureOf(secret, content)}`).join(' ')
}

function signatureOf(secret: string, content: Buffer): string {
  return schemeOf(secret) === 'v1'
    ? createHmac('sha256', bytesOf(secret)).update(content).digest('base64')
    : signBytes(null, content, privateKeyOf(secret)).toString('base64')
}

const schemeOf = (secret: string): SignatureScheme => (secret.startsWith(PREFIX.v1a) ? 'v1a' : 'v1')

const bytesOf = (secret: string) => Buffer.from(secret.slice(PREFIX[schemeOf(secret)].length), 'base64')

function privateKeyOf(secret: string) {
  return createPrivateKey({ key: Buffer.concat([PKCS8, bytesOf(secret)]), format: 'der', type: 'pkcs8' })
}
