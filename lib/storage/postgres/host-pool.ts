import type { CustomTypesConfig, Pool, PoolClient } from 'pg'
import { hasFunctions } from '../../core/kinds.ts'
import { lookAt, typesOf } from './outlook.ts'
import { type PgPool, type PgPoolClient, type PgQuery, type PgResult, RESULT_TIMEOUT_MS } from './pool.ts'
import { createRefusals } from './refusals.ts'

/** The used part of a `pg.Pool` of the host: the published types refer to no types of pg. */
export interface HostPool {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  connect(): Promise<unknown>
  query(...args: never[]): unknown
}

/** Whether this is a pool of pg, and not one of its connections. */
export function isHostPool(value: unknown): value is HostPool {
  return hasFunctions(value, 'connect', 'query', 'end') && 'totalCount' in Object(value)
}

/** What the service knows of a connection of the host. */
interface Known {
  isUnnamed: boolean
  needsBegin: boolean
  server: string
  connected_at: number
}

/**
 * A pool of the host as one of the service. Its connections are the host's: none of their settings changes, and no parser of
 * the host's reads the rows. Statements outside of transactions have no timeout at the server, as behind a pooler. It stays
 * open.
 *
 * @param isPrepared whether statements are prepared once on each connection
 */
export async function adoptPool(host: HostPool, { isPrepared }: { isPrepared: boolean }): Promise<PgPool> {
  const pool = host as unknown as Pool
  const { default: pg } = await import('pg')
  const types = typesOf(pg)
  const isPipelined = (pool.options as { pipeline?: boolean }).pipeline === true
  const known = new WeakMap<PoolClient, Known>()

  async function connect(): Promise<PgPoolClient> {
    const client = await pool.connect()
    // The pool listens to idle connections only: without a listener an error would end the process.
    const ignore = () => {}
    client.on('error', ignore)
    const release = (broken?: Error | boolean) => {
      client.off('error', ignore)
      client.release(broken)
    }
    try {
      const facts = known.get(client) ?? (await learn(client))
      known.set(client, facts)
      return Object.create(
        client,
        asProperties({ ...facts, query: querying(client, types, isPipelined), release }),
      ) as PgPoolClient
    } catch (error) {
      release(true)
      throw error
    }
  }

  async function learn(client: PoolClient): Promise<Known> {
    if (!Object(client).connection?.stream)
      throw new TypeError('openStorage: the pool must be one of the package pg, without pg-native')
    const { is_direct, server, isolation } = await lookAt(client)
    return {
      isUnnamed: !isPrepared || !is_direct,
      needsBegin: isolation !== 'read committed',
      server,
      connected_at: performance.now(),
    }
  }

  return {
    is_shared: true,
    // Connections outside of the pool have the same address.
    options: pool.options as unknown as PgPool['options'],
    get totalCount() {
      return pool.totalCount
    },
    get idleCount() {
      return pool.idleCount
    },
    get waitingCount() {
      return pool.waitingCount
    },
    connect,
    async query(query, values) {
      const client = await connect()
      try {
        return await client.query(query, values)
      } finally {
        client.release()
      }
    },
    end: async () => {},
    refusals: createRefusals(),
  }
}

/**
 * Runs statements on a connection, whose rows are as the service expects them.
 *
 * @param isPipelined whether it takes a statement before the one before has its result
 */
function querying(client: PoolClient, types: CustomTypesConfig, isPipelined: boolean): PgPoolClient['query'] {
  let last: Promise<unknown> = Promise.resolve()
  return (query: string | PgQuery, values?: readonly unknown[]) => {
    const { text, values: own = values, ...more } = typeof query === 'string' ? { text: query } : query
    const config = { query_timeout: RESULT_TIMEOUT_MS, ...more, text, types, ...(own && { values: [...own] }) }
    const send = () => client.query(config) as unknown as Promise<PgResult>
    if (isPipelined) return send()
    const sent = last.then(send, send)
    last = sent
    return sent
  }
}

function asProperties(values: object): PropertyDescriptorMap {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, writable: true }]))
}
