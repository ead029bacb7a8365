import type { Context } from '../context.ts'
import { warnOnce } from '../core/scheduling/once.ts'

/**
 * Makes the function that keeps the reserve for a full disk: it makes it where there is room, and warns once when it is
 * used up.
 */
export function createReserveLook({ db, log }: Pick<Context, 'db' | 'log'>): () => void {
  const warn = warnOnce(() =>
    log.warn('The disk of the database is full, and its reserve is used up: posts and uploads are refused'),
  )
  return () => (db.keepReserve?.() ? warn() : warn.reset())
}
