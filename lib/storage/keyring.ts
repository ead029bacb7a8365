import type { Config } from '../config/parse.ts'
import { toSecret } from '../config/security.ts'
import { keyIdOf, openText, type SealingKey, sealText } from '../core/sealed-text.ts'
import { deriveKey, type SigningKeys } from '../core/signed-text.ts'
import { DAY, MINUTE } from '../core/units.ts'
import type { Database } from './database.ts'
import { findSecret, readSecrets } from './secret.ts'
import { deleteRetirement, insertRetirements, listRetirements } from './secret-retirements.ts'
import type { Micros } from './sql.ts'

/** How long what a former key signed is taken: as long as the longest-lived token. */
export const SIGNED_MICROS = DAY

/** How long a process knows what keys the database has. A next one becomes the first after twice as long. */
const KNOWN_MICROS = MINUTE

/** The use of a secret that names it. */
const NAME = 'chat-server name of a secret'

/** The keys of the service, each use with its own: from the configuration, or else from the database. */
export interface Keyring {
  /** The keys of a use that signs. Former keys are among them for a day. */
  signing(use: string): Promise<SigningKeys>
  /** Encrypts a text with the key of a use. @param context where the text belongs: elsewhere it does not open */
  seal(use: string, text: string, context: string): Promise<string>
  /** The text, with any of the keys; `undefined` if none opens it. */
  open(use: string, sealed: string, context: string): Promise<string | undefined>
  /** The names that sealed texts have of the keys: first of the one that seals. They are read anew. */
  names(): Promise<KeyName[]>
}

/** A key by its name, and since when it has been a former one, of those that are. */
export interface KeyName {
  id: string
  retired_at: Micros
}

/** A secret by its name. */
interface Secret {
  id: string
  bytes: Uint8Array
  /** When it became a former one, of those that are. */
  retired_at: Micros
  /** Its keys by use. */
  keys: Map<string, Uint8Array>
}

/** Creates the keyring of a service. The secrets are read when they are needed first, and again after a reload. */
export function createKeyring({ config, db, now }: { config: Config; db: Database; now: () => Micros }): Keyring {
  let last: { security: Config['security']; secrets: Promise<Secret[]>; at: Micros } | undefined

  /** First the one that signs and seals. */
  function findSecrets({ isFresh = false } = {}): Promise<Secret[]> {
    const { security } = config
    const isKnown = last?.security === security && Math.abs(now() - last.at) < KNOWN_MICROS
    if (isKnown && !isFresh) return last!.secrets
    const known = last?.security === security ? last.secrets : undefined
    // What was known lasts while the storage is away.
    const secrets = loadSecrets(db, security, now).catch((error) => known ?? Promise.reject(error))
    const entry = { security, secrets, at: now() }
    last = entry
    // The storage may fail now, and not later.
    entry.secrets.catch(() => {
      if (last === entry) last = undefined
    })
    return entry.secrets
  }

  return {
    async signing(use) {
      const [first, ...others] = await findSecrets()
      const taken = others.filter(({ retired_at }) => now() - retired_at < SIGNED_MICROS)
      return [keyOf(first!, use), ...taken.map((secret) => keyOf(secret, use))]
    },
    async seal(use, text, context) {
      const [first] = await findSecrets()
      return sealText(sealingKey(first!, use), text, `${use} ${context}`)
    },
    async open(use, sealed, context) {
      const id = keyIdOf(sealed)
      const named = (secrets: Secret[]) => secrets.find((secret) => secret.id === id)
      // Another process may have made a key since they were read.
      const secret = named(await findSecrets()) ?? (id && named(await findSecrets({ isFresh: true })))
      return secret ? openText(sealingKey(secret, use), sealed, `${use} ${context}`) : undefined
    },
    async names() {
      return (await findSecrets({ isFresh: true })).map(({ id, retired_at }) => ({ id, retired_at }))
    },
  }
}

/** The name of a secret, from which it cannot be guessed. */
export function secretId(secret: Uint8Array): string {
  return Buffer.from(deriveKey(secret, NAME).subarray(0, 6)).toString('base64url')
}

async function loadSecrets(
  db: Database,
  { secret_key, previous_secret_keys }: Config['security'],
  now: () => Micros,
): Promise<Secret[]> {
  const configured = secret_key === undefined ? [] : [toSecret(secret_key)]
  // Without a configured one, the first is that of the database, which is made now if it is missing.
  const isStored = configured.length === 0
  let stored = await readSecrets(db)
  if (isStored && !stored.present) {
    await findSecret(db)
    stored = await readSecrets(db)
  }
  const { present, next, former } = stored
  const others = [...previous_secret_keys.map(toSecret), ...[next, former].filter((bytes) => bytes !== undefined)]
  const all = isStored ? [present!, ...others] : [...configured, ...others, ...(present ? [present] : [])]
  const byId = new Map(all.map((bytes) => [secretId(bytes), bytes]))
  const [first, ...rest] = byId.keys()
  const retired = await noteRetirements(db, { first: first!, others: rest }, now())
  return [...byId].map(([id, bytes]) => ({ id, bytes, retired_at: retired.get(id) ?? now(), keys: new Map() }))
}

/** When each of the others was first seen as a former one, which is noted for all processes. */
async function noteRetirements(
  db: Database,
  { first, others }: { first: string; others: string[] },
  now: Micros,
): Promise<ReadonlyMap<string, Micros>> {
  const noted = await listRetirements(db, [first, ...others])
  const missing = others.filter((id) => !noted.has(id))
  if (missing.length === 0 && !noted.has(first)) return noted
  return await db.write(async (tx) => {
    await insertRetirements(tx, missing, now)
    await deleteRetirement(tx, first)
    return await listRetirements(tx, others)
  })
}

function keyOf({ bytes, keys }: Secret, use: string): Uint8Array {
  const key = keys.get(use) ?? deriveKey(bytes, use)
  keys.set(use, key)
  return key
}

const sealingKey = (secret: Secret, use: string): SealingKey => ({ id: secret.id, key: keyOf(secret, use) })
