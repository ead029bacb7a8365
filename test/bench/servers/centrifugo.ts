import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from '../../support/free-port.ts'
import { isInstalled, startCluster } from '../../support/postgres.ts'
import { postTemplate } from '../load/template.ts'
import { maskedText, upgradeRequest } from '../load/websocket.ts'
import { startProgram, temporaryFolder } from './child.ts'
import { findProgram, type RoomPeer, withAudience } from './room-peer.ts'

const PROGRAM = 'centrifugo'

const CHANNEL = 'bench'

/** Of the API by which a back end publishes. */
const KEY = 'bench'

/** What its broker stores. */
const HISTORY = 'cf_stream'

const STEPS = [
  { send: upgradeRequest('/connection/websocket'), until: '\r\n\r\n' },
  { send: maskedText('{"id":1,"connect":{}}'), until: '"connect"' },
  { send: maskedText(`{"id":2,"subscribe":{"channel":"${CHANNEL}"}}`), until: '"subscribe"' },
]

/**
 * Centrifugo with its PostgreSQL broker: what is published is stored, with a place by which a reader recovers, and then
 * delivered. It knows no users of a room, no rights and nothing that is unread.
 */
export const centrifugo: RoomPeer = {
  name: 'Centrifugo',
  missing: () => {
    if (!isInstalled()) return 'PostgreSQL is not installed'
    if (findProgram(PROGRAM)) return undefined
    return 'centrifugo is not on the PATH (go install github.com/centrifugal/centrifugo/v6@v6.9.1)'
  },
  open: async (readers) => {
    const cluster = (await startCluster())!
    const database = new Client(cluster.url)
    const stopDatabase = async () => {
      await database.end()
      await cluster.stop()
    }
    try {
      await database.connect()
      const server = await start(cluster.url)
      const stop = async () => {
        await server.stop()
        await stopDatabase()
      }
      const post = postTemplate('/api/publish', { 'x-api-key': KEY }, (content) => ({
        channel: CHANNEL,
        data: { content },
      }))
      const target = { pid: [server.pid, cluster.pid], port: server.port, post }
      const room = await withAudience({ ...server, stop }, target, Array(readers).fill(STEPS))
      const countStored = async () => {
        const { rows } = await database.query(`SELECT count(*) AS count FROM ${HISTORY}`)
        return Number(rows[0].count)
      }
      return { ...room, countStored }
    } catch (error) {
      await stopDatabase()
      throw error
    }
  },
}

async function start(dsn: string) {
  const port = await freePort()
  const config = join(temporaryFolder(), 'centrifugo.json')
  writeFileSync(config, JSON.stringify(configuration(dsn, port)))
  return startProgram(findProgram(PROGRAM)!, ['--config', config], {}, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
    return response?.ok ? port : undefined
  })
}

/** As installed, with recovery on, and no pings during a run: the readers do not answer them. */
function configuration(dsn: string, port: number) {
  return {
    http_server: { address: '127.0.0.1', port },
    http_api: { key: KEY },
    health: { enabled: true },
    log: { level: 'error' },
    usage_stats: { disabled: true },
    client: { insecure: true, ping_interval: '1h', pong_timeout: '1m' },
    channel: {
      without_namespace: {
        history_size: 10_000_000,
        history_ttl: '24h',
        force_recovery: true,
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: true,
      },
    },
    broker: { enabled: true, type: 'postgres', postgres: { dsn, use_notify: true } },
  }
}
