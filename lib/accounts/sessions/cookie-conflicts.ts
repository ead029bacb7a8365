import type { Context } from '../../context.ts'
import { findDatabasePlace } from '../../storage/place.ts'

/** A service that runs in this process. */
interface Running {
  place: string
  tables: string
  cookies: string[]
}

/** The key of the process's services. They are not kept in this module: an application may load two copies of it. */
const RUNNING = Symbol.for('chat-server.running')

/**
 * Adds a service to those of this process.
 *
 * Two services in one database, each with tables of its own, are most likely under one host name. With equal names a
 * browser would keep the cookies of only one of them, and signing in to one would sign out of the other.
 *
 * @returns a function that removes it
 * @throws Error when another service on other tables of the same database has the same cookies
 */
export async function joinProcess({ db, config, host: { identity } }: Context): Promise<() => void> {
  // With a login of the host there are no cookies.
  if (identity) return () => {}
  const { session, security } = config
  const own: Running = {
    place: await findDatabasePlace(db),
    tables: db.names?.inStatement('') ?? '',
    cookies: [session.session_cookie_name, security.csrf.cookie_name],
  }
  const all = running()
  for (const { place, tables, cookies } of all) {
    const shared = own.cookies.find((name) => cookies.includes(name))
    if (own.place !== place || own.tables === tables || shared === undefined) continue
    throw new Error(
      `Two services in this process share a database and the cookie ${shared}: give one of them other names with security.cookie.prefix, such as "chat_"`,
    )
  }
  all.add(own)
  return () => all.delete(own)
}

function running(): Set<Running> {
  const process = globalThis as { [RUNNING]?: Set<Running> }
  process[RUNNING] ??= new Set()
  return process[RUNNING]
}
