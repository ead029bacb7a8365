import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Context } from '../../context.ts'
import { DAY } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'
import type { WebhookRow } from './store.ts'

/** The size of a secret, as Standard Webhooks recommends. */
const SECRET_BYTES = 32

/** The use of the key of the service that seals what webhooks need again. */
const USE = 'webhooks'

/** How long a replaced secret signs beside the new one. */
const ROTATION_MICROS = DAY

/** What signs the events of a webhook. */
export interface WebhookSecret {
  /** `whsec_` or, for Ed25519, `whsk_`, with 32 bytes in base64. */
  secret: string
  /** `whpk_` with 32 bytes in base64; for Ed25519 alone. */
  public_key?: string
}

/** A new secret of a kind: random bytes, or a key pair. */
export function createSecret(signature: WebhookRow['signature']): WebhookSecret {
  if (signature === 'v1') return { secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const secret = Buffer.from(privateKey.export({ format: 'jwk' }).d!, 'base64url').toString('base64')
  const shown = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64')
  return { secret: `whsk_${secret}`, public_key: `whpk_${shown}` }
}

/** A secret as it is stored. */
export function sealSecret({ keyring }: Pick<Context, 'keyring'>, id: string, secret: string): Promise<string> {
  return keyring.seal(USE, secret, `secret ${id}`)
}

/** Headers as they are stored, and their names; none are `null`. */
export async function sealHeaders(
  { keyring }: Pick<Context, 'keyring'>,
  id: string,
  headers: Readonly<Record<string, string>>,
): Promise<Pick<WebhookRow, 'headers' | 'header_names'>> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  if (entries.length === 0) return { headers: null, header_names: '[]' }
  const sealed = await keyring.seal(USE, JSON.stringify(Object.fromEntries(entries)), `headers ${id}`)
  return { headers: sealed, header_names: JSON.stringify(entries.map(([name]) => name)) }
}

/** What a call of a webhook needs that is sealed. */
export interface OpenedWebhook {
  /** That which signs, and for a day the one before it. */
  secrets: string[]
  headers: Record<string, string>
}

/** What is sealed of a webhook; `undefined` if no key of the service opens it. */
export async function openWebhook(
  { keyring }: Pick<Context, 'keyring'>,
  row: Pick<WebhookRow, 'id' | 'secret' | 'previous_secret' | 'rotated_at' | 'headers'>,
  now: Micros,
): Promise<OpenedWebhook | undefined> {
  const secret = row.secret === null ? undefined : await keyring.open(USE, row.secret, `secret ${row.id}`)
  const headers = row.headers === null ? '{}' : await keyring.open(USE, row.headers, `headers ${row.id}`)
  if (secret === undefined || headers === undefined) return undefined
  const isRecent = row.rotated_at !== null && now - row.rotated_at < ROTATION_MICROS
  const previous =
    isRecent && row.previous_secret !== null
      ? await keyring.open(USE, row.previous_secret, `secret ${row.id}`)
      : undefined
  return { secrets: previous === undefined ? [secret] : [secret, previous], headers: JSON.parse(headers) }
}
