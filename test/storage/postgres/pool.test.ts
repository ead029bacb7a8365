import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createPool } from '../../../lib/storage/postgres/pool.ts'
import { MEMORY } from '../../support/memory.ts'
import { type Cluster, startCluster } from '../../support/postgres.ts'

/** `ReadyForQuery`, outside of a transaction. */
const READY = Buffer.from('5a0000000549', 'hex')

/** `ErrorResponse` with this text. */
function errorOf(text: string): Buffer {
  const fields = Buffer.from(`SERROR\0C53000\0M${text}\0\0`, 'latin1')
  const head = Buffer.from([0x45, 0, 0, 0, 0])
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** A way to a server on which the first statement of each connection fails; then nothing is read any more. */
async function startRefusing({ url }: Cluster): Promise<string> {
  const path = `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`
  const server = createServer((near) => {
    const far = connect(path)
    let isReady = false
    for (const socket of [near, far]) socket.on('error', () => {})
    far.on('data', (bytes) => {
      isReady ||= bytes.includes(READY)
      near.write(bytes)
    })
    near.on('data', (bytes) => {
      if (!isReady) return void far.write(bytes)
      near.write(Buffer.concat([errorOf('too busy'), READY]))
      near.pause()
    })
    onTestFinished(() => [near, far].forEach((socket) => void socket.destroy()))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `postgres://postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`
}

describe.skipIf(!inject('postgres_url'))('a new connection whose settings are refused', () => {
  it('fails at once, also if the server leaves it open', async () => {
    const cluster = (await startCluster(MEMORY))!
    onTestFinished(() => cluster.stop())
    const pool = await createPool({ url: await startRefusing(cluster) })
    await expect(pool.connect()).rejects.toThrow('too busy')
    expect(pool.totalCount).toBe(0)
    await pool.end()
  })
})
