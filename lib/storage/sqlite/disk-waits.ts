import type { SqliteConnection } from './connection.ts'

/** Begins transactions whose commits wait for the disk, or do not. */
export type DiskWaits = ReturnType<typeof createDiskWaits>

/** SQLite has one setting for all transactions of a connection, and takes it between two of them only. */
export function createDiskWaits(connection: SqliteConnection) {
  let usual: number | undefined

  function setWaiting(waits: boolean): void {
    usual ??= Object.values(connection.prepare('PRAGMA synchronous').get() as Record<string, number>)[0]!
    connection.exec(`PRAGMA synchronous = ${waits ? usual : 'NORMAL'}`)
  }

  return {
    /** @param durable whether the commit is to wait; then `ended` has nothing to do */
    begin(sql: string, durable: boolean): void {
      if (!durable) setWaiting(false)
      try {
        connection.prepare(sql).run()
      } catch (error) {
        if (!durable) setWaiting(true)
        throw error
      }
    },

    /** Called after the end of the transaction. */
    ended(durable: boolean): void {
      if (!durable) setWaiting(true)
    },
  }
}
