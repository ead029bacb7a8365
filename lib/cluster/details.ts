import { hkdfSync } from 'node:crypto'
import { hostname } from 'node:os'
import { type Fingerprints, fingerprintsOf } from '../config/fingerprints.ts'
import type { LiveConfig } from '../config/live.ts'
import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Database, Queries } from '../storage/database.ts'
import { MIGRATIONS } from '../storage/schema/migrations.ts'
import { findNamesSecret, findSecret, readNamesSecret, readSecret, readValuesKey } from '../storage/secret.ts'
import { updateDetails } from './store.ts'

/** Where a process runs and listens, for people. */
export interface NodePlace {
  host: string
  pid: number
  /** The TCP port, once it listens on one. */
  port?: number
}

/** What a process notes of itself in its row. */
export interface NodeDetails extends NodePlace {
  /** The fingerprints of its configuration's values. They stay in the database: no response contains them. */
  values: Fingerprints
  /** The number of migrations that its program knows; missing in a row of 0.3. */
  schema?: number
  /** Whether its host reviews messages. */
  reviews?: true
}

/** The key of the digests of values. @param secret of the database, which all its processes have */
export function valuesKey(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'chat-server values of nodes', 32))
}

/** The key of the digests of the values of processes on a database, if one of them needed it already. Writes nothing. */
export async function readDigestsKey(
  db: Queries,
  { security }: Pick<Config, 'security'>,
): Promise<Uint8Array | undefined> {
  const isStored = security.secret_key === undefined
  // Processes of earlier versions compare theirs by the secret of the database.
  const kept = isStored ? await readValuesKey(db) : undefined
  if (kept) return kept
  const secret = isStored ? await readSecret(db) : await readNamesSecret(db)
  return secret && valuesKey(secret)
}

/** That key, which is made now if it is missing. */
async function findDigestsKey(db: Database, config: Pick<Config, 'security'>): Promise<Uint8Array> {
  const present = await readDigestsKey(db, config)
  if (present) return present
  return valuesKey(config.security.secret_key === undefined ? await findSecret(db) : await findNamesSecret(db))
}

/** @returns `undefined` for the row of another version, or one that is not complete yet */
export function toDetails(text: string | null | undefined): NodeDetails | undefined {
  try {
    const { host, pid, port, values, schema, reviews } = JSON.parse(text ?? '')
    return { host, pid, ...(port && { port }), values, ...(schema && { schema }), ...(reviews && { reviews }) }
  } catch {
    return undefined
  }
}

interface DetailsDeps {
  /** Where the rows of processes are. */
  db: Database
  /** Where the secret is. */
  main: Database
  settings: Pick<LiveConfig, 'current'>
  log: Log
  /** Whether the host of this process reviews messages. */
  reviews: boolean
}

/** The details of this process, which are written when its row is new, and when they change. */
export function createDetails(id: string, { db, main, settings, log, reviews }: DetailsDeps) {
  const place: NodePlace = { host: hostname(), pid: process.pid }
  let hasRow = false

  /** Writes them to the row of the process. It never rejects: they are for the operator only. */
  async function write(): Promise<void> {
    hasRow = true
    try {
      const config = settings.current()
      const values = fingerprintsOf(config, await findDigestsKey(main, config))
      const details: NodeDetails = { ...place, values, schema: MIGRATIONS.length, ...(reviews && { reviews }) }
      await updateDetails(db, id, JSON.stringify(details))
    } catch (error) {
      log.debug('The details of this process could not be written', { cause: causeText(error) })
    }
  }

  return {
    write,
    place: (): NodePlace => place,
    /** Notes the port on which this process listens; one that a host serves may have none. */
    async listensOn(port: number): Promise<void> {
      place.port = port
      if (hasRow) await write()
    },
    /** Notes another configuration. */
    async changed(): Promise<void> {
      if (hasRow) await write()
    },
  }
}
