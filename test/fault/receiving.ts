/**
 * A program that applies events to its own database, and is killed: `receiving.ts <JSON of its ReceivingSettings>`. It writes
 * each effect into a table without a unique key.
 */
import { createServer } from 'node:http'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { createChatClient } from '../../lib/client/index.ts'
import { createReceiver, type PgTransaction, pgStore, type Receiver, sqliteStore } from '../../lib/receive/index.ts'
import type { ReceivingSettings } from './receive-crashes.ts'

const settings: ReceivingSettings = JSON.parse(process.argv[2]!)
const { url, base_url, api_key, from, push } = settings
const secrets = push && { secrets: push.secret }

// The parent process has ended.
process.stdin.resume().on('end', () => process.exit())

const receiver = url.startsWith('sqlite:') ? onSqlite() : onPostgres()
if (push) createServer(receiver.node).listen(push.port, '127.0.0.1')
if (settings.pulls) await receiver.pull(createChatClient({ base_url, api_key }), { types: ['message.new'], from })

function onSqlite(): Receiver {
  const db = new Sqlite(url.slice('sqlite:'.length))
  db.pragma('journal_mode = WAL')
  const insert = db.prepare('INSERT INTO effects (id) VALUES (?)')
  const effect = (_tx: unknown, event: { id: string }) => void insert.run(event.id)
  return createReceiver({ store: sqliteStore(db), source: 'chat', effect, ...secrets })
}

function onPostgres(): Receiver {
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  const effect = (tx: PgTransaction, { id }: { id: string }) => tx.query('INSERT INTO effects (id) VALUES ($1)', [id])
  return createReceiver({ store: pgStore(pool), source: 'chat', effect, ...secrets })
}
