import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import Database from 'better-sqlite3'
import { Pool } from 'pg'
import { type AppliedEvent, pgStore, type ReceiveStore, sqliteStore } from '../../lib/receive/index.ts'

/** A receiver's database with a table of effects that has no unique key. */
export interface TestStore {
  // biome-ignore lint/suspicious/noExplicitAny: the effects of a test fit both databases
  store: ReceiveStore<any>
  /** Writes an effect. With PostgreSQL it returns a promise. */
  // biome-ignore lint/suspicious/noExplicitAny: see `store`
  write: (tx: any, event: { id: string }) => any
  /** The ids of the effects in the order in which they were written. */
  effects(): Promise<string[]>
  /** How many effects there are. */
  count(): Promise<number>
  ids(): Promise<string[]>
  run(text: string): Promise<unknown>
  /** Another connection, as that of another process. */
  other(): Promise<TestStore>
  close(): Promise<void>
}

const EFFECTS = { sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT', postgres: 'bigint GENERATED ALWAYS AS IDENTITY' }

/** Opens the database at a URL of the tests as one of a receiver. */
export async function openStore(url: string): Promise<TestStore> {
  const opened = url.startsWith('sqlite:') ? openSqlite(url) : openPostgres(url)
  await opened.store.migrate()
  const kind = url.startsWith('sqlite:') ? EFFECTS.sqlite : EFFECTS.postgres
  await opened.run(`CREATE TABLE IF NOT EXISTS effects (n ${kind}, id text NOT NULL)`)
  return opened
}

function openSqlite(url: string): TestStore {
  const db = new Database(url.slice('sqlite:'.length))
  const insert = () => db.prepare('INSERT INTO effects (id) VALUES (?)')
  const list = async (text: string) => (db.prepare(text).all() as { id: string }[]).map(({ id }) => id)
  return {
    store: sqliteStore(db),
    write: (_tx, { id }) => void insert().run(id),
    effects: () => list('SELECT id FROM effects ORDER BY n'),
    count: async () => db.prepare('SELECT count(*) FROM effects').pluck().get() as number,
    ids: () => list('SELECT id FROM chat_received ORDER BY id'),
    run: async (text) => db.exec(text),
    other: async () => openSqlite(url),
    close: async () => void db.close(),
  }
}

function openPostgres(url: string): TestStore {
  const pool = new Pool({ connectionString: url, max: 8 })
  pool.on('error', () => {})
  const list = async (text: string) => (await pool.query(text)).rows.map(({ id }) => id as string)
  return {
    store: pgStore(pool),
    write: (tx, { id }) => tx.query('INSERT INTO effects (id) VALUES ($1)', [id]),
    effects: () => list('SELECT id FROM effects ORDER BY n'),
    count: async () => Number((await pool.query('SELECT count(*) FROM effects')).rows[0].count),
    ids: () => list('SELECT id FROM chat_received ORDER BY id'),
    run: (text) => pool.query(text),
    other: async () => openPostgres(url),
    close: () => pool.end(),
  }
}

/** An event as the feed has it. */
export function eventOf(n: number): AppliedEvent {
  const id = `evt_1_${String(n).padStart(6, '0')}`
  const data = { message_id: id, root_id: id, conversation_id: id, code: 'timeout', message: '' }
  return { id, position: `1.${n}`, type: 'message.failed', timestamp: '2026-01-01T00:00:00Z', data } as AppliedEvent
}

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`

const PAIR = generateKeyPairSync('ed25519')

export const PUBLIC_KEY = `whpk_${PAIR.publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('base64')}`

/** What a call is signed with, where it is not the usual. */
export interface Signing {
  secret?: string
  scheme?: 'v1' | 'v1a'
  timestamp?: number | string
  id?: string
}

/** The headers of a call (Standard Webhooks 1.0). */
export function signedHeaders(body: string, signing: Signing = {}): Record<string, string> {
  const { secret = SECRET, scheme = 'v1', timestamp = Math.floor(Date.now() / 1000) } = signing
  const id = signing.id ?? (JSON.parse(body) as { id: string }).id
  const content = `${id}.${timestamp}.${body}`
  const signature =
    scheme === 'v1'
      ? createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
          .update(content)
          .digest()
      : sign(null, Buffer.from(content), PAIR.privateKey)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `${scheme},${signature.toString('base64')}`,
  }
}

/** A call of a webhook with this event. */
export function callOf(event: object, signing: Signing = {}): Request {
  const body = JSON.stringify(event)
  return new Request('http://receiver.test/events', { method: 'POST', body, headers: signedHeaders(body, signing) })
}
