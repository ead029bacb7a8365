/**
 * A program that pulls events into its own database, and is killed: `receiving.ts <receiver's database> <URL of the
 * service> <key>`. It writes each effect into a table without a unique key.
 */
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { createChatClient } from '../../lib/client/index.ts'
import { createReceiver, type PgTransaction, pgStore, type Receiver, sqliteStore } from '../../lib/receive/index.ts'

const [url = '', base_url = '', api_key = ''] = process.argv.slice(2)

// The parent process has ended.
process.stdin.resume().on('end', () => process.exit())

const receiver = url.startsWith('sqlite:') ? await onSqlite() : await onPostgres()
await receiver.pull(createChatClient({ base_url, api_key }), { types: ['message.new'] })

async function onSqlite(): Promise<Receiver> {
  const db = new Sqlite(url.slice('sqlite:'.length))
  db.pragma('journal_mode = WAL')
  const store = sqliteStore(db)
  await store.migrate()
  const insert = db.prepare('INSERT INTO effects (id) VALUES (?)')
  return createReceiver({ store, source: 'chat', effect: (_tx, event) => void insert.run(event.id) })
}

async function onPostgres(): Promise<Receiver> {
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  const store = pgStore(pool)
  const effect = (tx: PgTransaction, { id }: { id: string }) => tx.query('INSERT INTO effects (id) VALUES ($1)', [id])
  return createReceiver({ store, source: 'chat', effect })
}
