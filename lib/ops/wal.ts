import type { Context } from '../context.ts'
import { WAL_BYTES, walBytes } from '../storage/sqlite/file.ts'

/** Warns when what is written to SQLite first piles up, because somebody keeps it from going into the database. */
export async function checkWal({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const bytes = await walBytes(db)
  if (bytes > WAL_BYTES)
    log.warn('The WAL grows: another process has one and the same read open', { cause: `It has ${bytes} bytes` })
}
