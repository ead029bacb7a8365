import type { Context } from '../../context.ts'
import { DAY } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'
import { newWebhookSecret, publicKeyOf } from './signing.ts'
import type { WebhookRow } from './store.ts'

/** The use of the key of the service that seals what webhooks need again. */
const USE = 'webhooks'

/** How long a replaced secret signs beside the new one. */
export const ROTATION_MICROS = DAY

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

/** A new secret of a webhook, and the columns that have it; the former one signs beside it for a day. */
export async function replaceSecret(
  ctx: Pick<Context, 'keyring' | 'now'>,
  row: Pick<WebhookRow, 'id' | 'secret' | 'signature'>,
  signature = row.signature,
) {
  const secret = newWebhookSecret(signature)
  const columns = {
    secret: await sealSecret(ctx, row.id, secret),
    previous_secret: row.secret,
    rotated_at: ctx.now(),
    public_key: publicKeyOf(secret) ?? null,
    signature,
  }
  return { secret, columns }
}

/** The columns of another secret, for a webhook that signs in another way from now on. */
export async function rekey(
  ctx: Pick<Context, 'keyring' | 'now'>,
  row: Pick<WebhookRow, 'id' | 'secret' | 'signature'>,
  signature: WebhookRow['signature'] = row.signature,
) {
  return signature === row.signature ? {} : (await replaceSecret(ctx, row, signature)).columns
}

/** A sealed text of a webhook, sealed with the present key of the service; `undefined` if no key opens it. */
export async function resealed(
  { keyring }: Pick<Context, 'keyring'>,
  { id, column, sealed }: { id: string; column: 'secret' | 'previous_secret' | 'headers'; sealed: string },
): Promise<string | undefined> {
  const context = `${column === 'headers' ? 'headers' : 'secret'} ${id}`
  const text = await keyring.open(USE, sealed, context)
  return text === undefined ? undefined : await keyring.seal(USE, text, context)
}

/** What a call of a webhook needs that is sealed. */
export interface OpenedWebhook {
  /** That which signs, and for a day the one before it. */
  secrets: string[]
  headers: Record<string, string>
}

const isRotating = ({ rotated_at }: Pick<WebhookRow, 'rotated_at'>, now: Micros) =>
  rotated_at !== null && now - rotated_at < ROTATION_MICROS

/** The secrets that sign now: what was opened may be older than a day. */
export function signingSecrets(
  { secrets }: OpenedWebhook,
  row: Pick<WebhookRow, 'rotated_at'>,
  now: Micros,
): readonly string[] {
  return isRotating(row, now) ? secrets : secrets.slice(0, 1)
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
  const previous =
    isRotating(row, now) && row.previous_secret !== null
      ? await keyring.open(USE, row.previous_secret, `secret ${row.id}`)
      : undefined
  return { secrets: previous === undefined ? [secret] : [secret, previous], headers: JSON.parse(headers) }
}
