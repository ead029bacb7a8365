import { assertKinds, BOOLEAN, hasFunctions, type Kind, oneOf, TEXT } from '../core/kinds.ts'
import type { StorageOptions } from './open.ts'
import { isHostPool } from './postgres/host-pool.ts'

const KINDS: Record<keyof StorageOptions, Kind> = {
  database: {
    text: 'an address (sqlite:… or postgres://…), a database of db0, a Pool of pg, or a handle of better-sqlite3 or node:sqlite',
    accepts: (value) =>
      typeof value === 'string' ||
      hasFunctions(value, 'getInstance') ||
      hasFunctions(value, 'prepare', 'exec') ||
      isHostPool(value),
  },
  kv: {
    text: 'a storage of unstorage, with getItem, setItem and removeItem',
    accepts: (value) => hasFunctions(value, 'getItem', 'setItem', 'removeItem'),
  },
  files: {
    text: 'a place (fs:… or s3://…) or a storage of unstorage, with getItemRaw and setItemRaw',
    accepts: (value) => typeof value === 'string' || hasFunctions(value, 'getItemRaw', 'setItemRaw'),
  },
  pool_size: {
    text: 'a number of connections from 1',
    accepts: (value) => Number.isInteger(value) && (value as number) > 0,
  },
  application_name: TEXT,
  prepared_statements: BOOLEAN,
  // A name that cannot be one is refused where it is used.
  schema: TEXT,
  prefix: TEXT,
  durability: oneOf('full', 'os'),
  read_only: BOOLEAN,
  create: BOOLEAN,
  strict: BOOLEAN,
}

/** @throws TypeError for an option that has another type: JavaScript would pass it on to the database driver */
export function assertOptions(options: unknown): asserts options is StorageOptions {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`openStorage: expected options such as { database: 'sqlite:./data/chat.db' }`)
  assertKinds<StorageOptions>('openStorage', options, KINDS)
  const { database, ...others } = options as StorageOptions
  const own = (['pool_size', 'application_name'] as const).find((name) => others[name] !== undefined)
  if (isHostPool(database) && own) throw new TypeError(`openStorage: "${own}" is of your pool: set it there`)
}
