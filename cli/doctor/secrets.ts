import type { Config } from '../../lib/config/parse.ts'
import { toSecret } from '../../lib/config/security.ts'
import { countSealed } from '../../lib/integrations/webhooks/store-secrets.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { secretId } from '../../lib/storage/keyring.ts'
import { readSecrets } from '../../lib/storage/secret.ts'
import { type Finding, warning } from './finding.ts'

/** The finding about what is encrypted in the database and no key of the service opens. */
export async function checkEncrypted({ security }: Pick<Config, 'security'>, db: Queries): Promise<Finding[]> {
  const { secret_key, previous_secret_keys } = security
  const configured = [secret_key, ...previous_secret_keys].flatMap((key) => (key === undefined ? [] : toSecret(key)))
  const known = new Set([...configured, ...Object.values(await readSecrets(db))].map(secretId))
  let lost = 0
  for (const [id, count] of await countSealed(db)) if (!known.has(id)) lost += count
  if (lost === 0) return []
  return [
    warning(
      'secret.lost',
      `No key of the service opens ${lost} encrypted values.`,
      'Name the former key in security.previous_secret_keys; what stays lost is made anew by "chat-server webhook rotate".',
    ),
  ]
}
