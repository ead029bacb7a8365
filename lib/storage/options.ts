import type { StorageOptions } from './open.ts'

/** What a value of an option must be, as an error names it. */
interface Kind {
  text: string
  accepts: (value: unknown) => boolean
}

const hasFunctions = (value: unknown, ...names: string[]) =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')

const BOOLEAN: Kind = { text: 'true or false', accepts: (value) => typeof value === 'boolean' }

const KINDS: Record<keyof StorageOptions, Kind> = {
  database: {
    text: 'an address (sqlite:… or postgres://…), a database of db0, or a handle of better-sqlite3 or node:sqlite',
    accepts: (value) =>
      typeof value === 'string' || hasFunctions(value, 'getInstance') || hasFunctions(value, 'prepare', 'exec'),
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
  application_name: { text: 'a text', accepts: (value) => typeof value === 'string' },
  prepared_statements: BOOLEAN,
  // A name that cannot be one is refused where it is used.
  schema: { text: 'a text', accepts: (value) => typeof value === 'string' },
  prefix: { text: 'a text', accepts: (value) => typeof value === 'string' },
  durability: { text: '"full" or "os"', accepts: (value) => value === 'full' || value === 'os' },
  read_only: BOOLEAN,
  create: BOOLEAN,
  strict: BOOLEAN,
}

/** @throws TypeError for an option that has another type: JavaScript would pass it on to the database driver */
export function assertOptions(options: unknown): asserts options is StorageOptions {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`openStorage: expected options such as { database: 'sqlite:./data/chat.db' }`)
  for (const [name, { text, accepts }] of Object.entries(KINDS)) {
    const value = (options as Record<string, unknown>)[name]
    if (value !== undefined && !accepts(value)) throw new TypeError(`openStorage: "${name}" must be ${text}`)
  }
}
