import type { Context } from '../context.ts'
import { WAL_BYTES, walBytes } from '../storage/sqlite/file.ts'

/** Logs a warning when SQLite's WAL grows because an open read prevents a checkpoint. */
export async function checkWal({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const bytes = await walBytes(db)
  if (bytes > WAL_BYTES)
    log.warn('The WAL grows: another process keeps a read open', { cause: `It has ${bytes} bytes` })
}
