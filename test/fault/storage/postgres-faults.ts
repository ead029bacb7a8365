import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Cluster } from '../../support/postgres.ts'
import type { Mount } from './mounts.ts'
import type { CutProxy } from './proxy.ts'
import type { Fault } from './stage.ts'

const UNAVAILABLE = ['503 unavailable']

/** The target of a fault, and its duration. */
export interface PostgresStage {
  cluster: Cluster
  proxy: CutProxy
  /** A session in the database of the service. */
  admin: pg.Client
  /** Another session there. */
  other: pg.Client
  /** The small file system with the database, if there is one. */
  mount: Mount | undefined
  lasts_ms?: number | undefined
}

/** A fault, and its requirements. */
export type PostgresFault = { needs?: 'mount'; make: (stage: PostgresStage) => Omit<Fault, 'name'> }

const ALL_FAILS = { answers: UNAVAILABLE, reads: false, ready: false }
const WRITES_FAIL = { answers: UNAVAILABLE, reads: true, ready: true }
/** It ends before a probe runs, or affects only some writes. */
const SOME_FAIL = { answers: UNAVAILABLE, reads: false, ready: true }

/** The role of the service: not a superuser, who is exempt from limits. */
export const ROLE = 'chat'

/** Faults of a PostgreSQL in use, by name. */
export const POSTGRES_FAULTS: Record<string, PostgresFault> = {
  'connections ended (pg_terminate_backend)': {
    make: ({ admin, lasts_ms }) => ({
      ...SOME_FAIL,
      lasts_ms,
      async begin() {
        let over = false
        const ending = (async () => {
          for (; !over; await sleep(100)) await endConnections(admin)
        })()
        return () => {
          over = true
          return ending
        }
      },
    }),
  },
  'way to it cut': {
    make: ({ proxy, lasts_ms }) => ({
      ...ALL_FAILS,
      lasts_ms,
      async begin() {
        proxy.cut()
        return () => proxy.mend()
      },
    }),
  },
  'way to it silent': {
    make: ({ proxy, lasts_ms }) => ({
      ...ALL_FAILS,
      lasts_ms,
      async begin() {
        proxy.hold()
        return () => proxy.release()
      },
    }),
  },
  'way to it silent, connections lost': {
    make: ({ proxy, lasts_ms }) => ({
      ...ALL_FAILS,
      lasts_ms,
      async begin() {
        proxy.hold()
        return () => proxy.lose()
      },
    }),
  },
  'answers to COMMIT lost': {
    make: ({ proxy }) => ({
      ...SOME_FAIL,
      async begin() {
        proxy.loseCommits(true)
        return () => proxy.loseCommits(false)
      },
    }),
  },
  'too many connections': {
    make: ({ admin }) => ({
      ...ALL_FAILS,
      async begin() {
        await admin.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`)
        await endConnections(admin)
        return async () => void (await admin.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`))
      },
    }),
  },
  'read-only': {
    make: ({ admin }) => ({
      ...WRITES_FAIL,
      // Requests in progress fail when the connections are replaced, including reads.
      reads: false,
      async begin() {
        await admin.query(`ALTER ROLE ${ROLE} SET default_transaction_read_only = on`)
        await endConnections(admin)
        return async () => {
          await admin.query(`ALTER ROLE ${ROLE} RESET default_transaction_read_only`)
          await endConnections(admin)
        }
      },
    }),
  },
  'conversation locked by another session': {
    make: ({ other, lasts_ms }) => ({
      ...WRITES_FAIL,
      lasts_ms,
      async begin() {
        await other.query('BEGIN')
        await other.query('SELECT id FROM conversations FOR UPDATE')
        return async () => void (await other.query('ROLLBACK'))
      },
    }),
  },
  'full disk': {
    needs: 'mount',
    make: ({ mount }) => ({
      ...WRITES_FAIL,
      begin: async () => mount!.fill(),
    }),
  },
}

/** Restarts of a PostgreSQL, by name: each has its own cluster, since it is unavailable to all. */
export const POSTGRES_RESTARTS: Record<string, (cluster: Cluster) => Promise<unknown>> = {
  'restart (fast)': async () => {},
  'restart (immediate)': async ({ pid }) => process.kill(pid, 'SIGQUIT'),
}

/** Stops a cluster and starts it again. */
export function restarting(how: string, cluster: Cluster, lasts_ms: number | undefined): Omit<Fault, 'name'> {
  return {
    ...ALL_FAILS,
    lasts_ms,
    async begin() {
      let start!: () => void
      const over = new Promise<void>((resolve) => {
        start = resolve
      })
      await POSTGRES_RESTARTS[how]!(cluster)
      const restarted = cluster.restart(() => over)
      return async () => {
        start()
        await restarted
      }
    },
  }
}

async function endConnections(admin: pg.Client): Promise<void> {
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [ROLE])
}
