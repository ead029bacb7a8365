import pg from 'pg'
import { createChatService, parseConfig } from '../../lib/index.ts'
import type { Db0Like } from '../../lib/storage/connect.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { sql } from '../../lib/storage/sql.ts'
import type { SqliteHandle } from '../../lib/storage/sqlite/connection.ts'
import { placementOf } from '../support/placement.ts'
import { fileOf, openHandle } from './handles.ts'

/** The actions of another process on a database; see `PROGRAMS`. */
const [name, url, ...args] = process.argv.slice(2) as [string, string, ...string[]]

const PROGRAMS: Record<string, () => Promise<number>> = {
  /** `write <url> <first id> <count>`: inserts this many items, one transaction each. */
  async write() {
    const [first, count] = args.map(Number) as [number, number]
    const { db, close } = await openStorage({ database: url })
    for (let id = first; id < first + count; id++) {
      await db.write((tx) => tx.run(sql`INSERT INTO items (id) VALUES (${id})`))
    }
    await close()
    return count
  },

  /** `migrate <url> [text | #n]`: the process is killed before the first statement that begins with the text, or the n-th. */
  async migrate() {
    const database = args[0] ? await dyingAt(args[0]) : url
    const storage = await openStorage({ database })
    const applied = await storage.migrate()
    await storage.close()
    return applied.length
  },

  /**
   * `review <url> <asked | edited>`: runs due tasks with a hook that masks every text. The process is killed when the hook is asked,
   * or after the text was replaced.
   */
  async review() {
    const die = () => void process.kill(process.pid, 'SIGKILL')
    const storage = await openStorage({ database: url, ...placementOf(url) })
    const chat = createChatService(parseConfig(), storage, {
      hooks: {
        beforeMessage() {
          if (args[0] === 'asked') die()
          return { content: '****' }
        },
        afterEvent: ({ type }) => (type === 'message.edited' ? die() : undefined),
      },
    })
    await chat.start()
    await chat.idle()
    await chat.close()
    return 0
  },
}

function dyingAt(text: string): Promise<Db0Like> {
  let count = 0
  const before = (sql: string) => {
    count++
    if (sql.startsWith(text) || text === `#${count}`) process.kill(process.pid, 'SIGKILL')
  }
  return url.startsWith('sqlite:') ? dyingSqlite(before) : dyingPostgres(before)
}

async function dyingSqlite(before: (sql: string) => void): Promise<Db0Like> {
  const handle = await openHandle(fileOf(url))
  const dying: SqliteHandle = {
    prepare(sql) {
      const statement = handle.prepare(sql)
      return {
        all: (...params) => statement.all(...params),
        get: (...params) => statement.get(...params),
        run(...params) {
          before(sql)
          return statement.run(...params)
        },
      }
    },
    exec: (sql) => handle.exec(sql),
    close: () => handle.close(),
  }
  return { dialect: 'sqlite', getInstance: async () => dying }
}

async function dyingPostgres(before: (sql: string) => void): Promise<Db0Like> {
  const pool = new pg.Pool({ connectionString: url })
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    const dying = (...given: unknown[]) => {
      before(typeof given[0] === 'string' ? given[0] : (given[0] as { text: string }).text)
      return query(...given)
    }
    client.query = dying as typeof client.query
  })
  return { dialect: 'postgresql', getInstance: async () => pool }
}

console.log(await PROGRAMS[name]!())
