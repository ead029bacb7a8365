import type { PgPool, PgPoolClient } from './pool.ts'
import { checkOut } from './tls.ts'

/** After a server has refused a write, connections are kept for so long, also if it refuses others. */
const SUSPECTED_MS = 5_000

/** The connections of a pool that lead to the server that serves now. */
export interface Connections {
  /** A free connection, or a new one. */
  acquire(): Promise<PgPoolClient>
  /** A server has refused a write: the connections of until now may lead to one that another has replaced. */
  suspect(): void
  /** New connections have other credentials: those of until now are not used again. */
  renew(): void
}

/**
 * Keeps the connections of a pool on one server. When another server takes over, connections to the old one may stay open:
 * it is then read-only, or continues as if nothing had happened. Reads would return the past, or, where new connections
 * lead to the new server, the past and the present by turns. So the newest connection decides, and a refused write
 * renews all.
 */
export function createConnections(pool: PgPool): Connections {
  let newest: { server: string | undefined; connected_at: number } | undefined
  let suspected_at = Number.NEGATIVE_INFINITY
  let renewed_at = Number.NEGATIVE_INFINITY

  function isOutdated(client: PgPoolClient): boolean {
    const { server, connected_at = 0 } = client
    if (!newest || connected_at > newest.connected_at) newest = { server, connected_at }
    return server !== newest.server || connected_at < Math.max(suspected_at, renewed_at)
  }

  return {
    async acquire() {
      for (;;) {
        const client = await checkOut(pool)
        if (!isOutdated(client)) return client
        client.release(true)
      }
    },
    suspect() {
      const now = performance.now()
      if (now - suspected_at > SUSPECTED_MS) suspected_at = now
    },
    renew() {
      renewed_at = performance.now()
    },
  }
}
