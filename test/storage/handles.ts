import type { SqliteHandle } from '../../lib/storage/sqlite/connection.ts'

/** Another connection to a SQLite file, with what this Node supports: better-sqlite3, or node:sqlite. */
export async function openHandle(path: string): Promise<SqliteHandle> {
  try {
    const { default: Sqlite } = await import('better-sqlite3')
    return new Sqlite(path)
  } catch (cause) {
    const sqlite = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: new (path: string) => SqliteHandle }
    if (!sqlite) throw cause
    return new sqlite.DatabaseSync(path)
  }
}

/** The file of a `sqlite:` URL. */
export function fileOf(url: string): string {
  return url.slice('sqlite:'.length)
}

/** A promise with its resolve function: a test decides when other code continues. */
export function promised<T = void>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
