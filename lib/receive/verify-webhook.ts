import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import { ReceiveError } from './receive-error.ts'

/** What proves the sender. */
export interface WebhookKeys {
  /** For `signature: v1`: `whsec_…`, several while one is replaced. */
  secrets?: string | readonly string[]
  /** For `signature: v1a`: `whpk_…`. */
  public_keys?: string | readonly string[]
}

/** Headers of `fetch` or of Node. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>

/** What {@link verifyWebhook} takes. */
export interface WebhookCall extends WebhookKeys {
  headers: WebhookHeaders
  /** As it arrived: a text that was parsed and written again has other bytes. */
  body: string | Uint8Array
  /** How old or early the call may be. @default 300 */
  tolerance_seconds?: number
}

/** The body of a call whose sender is proven. */
export interface WebhookBody {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
}

const TOLERANCE_SECONDS = 300

/** What stands before the 32 bytes of a public key of Ed25519 (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** During a rotation there are two; each costs a computation. */
const MAX_SIGNATURES = 8

const PARSED =
  'The body was parsed before: the signature is over its bytes. Express: app.post("/events", receiver.node) before app.use(express.json()). Fastify: addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => done(null, body)). Next: export const config = { api: { bodyParser: false } }'

type Check = (content: Buffer, signature: Buffer) => boolean

/**
 * Proves the sender of a webhook (Standard Webhooks 1.0), in a time that does not depend on where a signature differs.
 *
 * @returns the body
 * @throws ReceiveError `signature`, `timestamp`; `malformed` for a body that is no event or was parsed before, or bad keys
 */
export function verifyWebhook(call: WebhookCall): WebhookBody {
  const { headers, body, tolerance_seconds, ...keys } = call ?? {}
  return createVerifier(keys, tolerance_seconds)(headers, body)
}

/** Verifies calls by keys that are read once. @throws ReceiveError `malformed` for keys that are none */
export function createVerifier(
  { secrets, public_keys }: WebhookKeys,
  tolerance_seconds: number = TOLERANCE_SECONDS,
): (headers: WebhookHeaders, body: unknown) => WebhookBody {
  const checks: [version: string, check: Check][] = [
    ...listed(secrets).map((secret): [string, Check] => ['v1', hmacCheck(bytesOf(secret, 'whsec_', 'secrets'))]),
    ...listed(public_keys).map((key): [string, Check] => ['v1a', keyCheck(bytesOf(key, 'whpk_', 'public_keys'))]),
  ]
  if (checks.length === 0)
    throw new ReceiveError('malformed', 'Pass the "secrets" of the webhook, or its "public_keys"')

  return (headers, body) => {
    if (!headers || typeof headers !== 'object')
      throw new ReceiveError('malformed', '"headers" must be the headers of the call')
    const bytes = rawBytes(body)
    const id = headerOf(headers, 'webhook-id')
    const timestamp = headerOf(headers, 'webhook-timestamp')
    const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes])
    const signatures = headerOf(headers, 'webhook-signature').split(' ', MAX_SIGNATURES)
    if (!signatures.some((signature) => isSigned(checks, content, signature)))
      throw new ReceiveError('signature', 'No signature of the call fits the keys of this receiver')
    assertRecent(timestamp, tolerance_seconds)
    const event = parseEvent(bytes)
    if (event.id !== id) throw new ReceiveError('malformed', 'The id of the body is not that of the headers')
    return event
  }
}

function assertRecent(timestamp: string, tolerance_seconds: number): void {
  const age = Date.now() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN)
  if (!(Math.abs(age) <= tolerance_seconds))
    throw new ReceiveError('timestamp', 'The call is too old or too early: compare the clocks of both sides')
}

function isSigned(checks: [version: string, check: Check][], content: Buffer, signature: string): boolean {
  const [version, text = ''] = signature.split(',', 2)
  const bytes = Buffer.from(text, 'base64')
  return checks.some(([expected, check]) => expected === version && check(content, bytes))
}

function hmacCheck(secret: Buffer): Check {
  return (content, signature) => {
    const expected = createHmac('sha256', secret).update(content).digest()
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  }
}

function keyCheck(bytes: Buffer): Check {
  if (bytes.length !== 32)
    throw new ReceiveError('malformed', 'Each of "public_keys" must be "whpk_" with base64 of 32 bytes behind it')
  const key: KeyObject = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  return (content, signature) => signature.length === 64 && verify(null, content, key, signature)
}

function listed(keys: string | readonly string[] | undefined): readonly string[] {
  if (keys === undefined) return []
  return typeof keys === 'string' ? [keys] : keys
}

function bytesOf(key: unknown, prefix: string, option: string): Buffer {
  const [, text] = (typeof key === 'string' && /^[a-z]+_([A-Za-z0-9+/]{22,}={0,2})$/.exec(key)) || []
  if (!text || !(key as string).startsWith(prefix))
    throw new ReceiveError('malformed', `Each of "${option}" must be "${prefix}" with base64 behind it`)
  return Buffer.from(text, 'base64')
}

function rawBytes(body: unknown): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw new ReceiveError('malformed', PARSED)
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}

/** @throws ReceiveError `malformed` */
function parseEvent(bytes: Uint8Array): WebhookBody {
  let event: Partial<WebhookBody> | null
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ReceiveError('malformed', 'The body is no JSON')
  }
  const isEvent = isText(event?.id) && isText(event?.type) && typeof event?.data === 'object' && event.data !== null
  if (!isEvent) throw new ReceiveError('malformed', 'The body is no event: it needs id, type and data')
  return event as WebhookBody
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 200
}

/** The refusal of a body that is not there any more. */
export function parsedBefore(): ReceiveError {
  return new ReceiveError('malformed', PARSED)
}
