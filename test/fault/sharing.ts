/**
 * A host that commits orders together with messages, and is killed. `node sharing.mjs <url> <actor> <conversation> <first>
 * <orders> <step> <delay_ms>`: it stores so many orders, and in the last of them kills itself at the step.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import type { SharedChat } from '../../lib/service.ts'

const [url = '', user_id = '', conversation_id = '', first = '0', orders = '1', step = '', delay = '0'] =
  process.argv.slice(2)

await run()

async function run(): Promise<void> {
  const chat = createChatService(parseConfig(), await openStorage({ database: url }))
  await chat.start({ background: false })
  const actor = await chat.users.actor(user_id)
  const commit = url.startsWith('sqlite:') ? onSqlite() : await onPostgres()
  for (let n = 0; n < Number(orders); n++) {
    const id = Number(first) + n
    const isLast = n === Number(orders) - 1
    const reach = (name: string) => isLast && name === step && die()
    await commit(id, reach, async (shared) => {
      await reach('row')
      await shared.messages.postRoot(actor, conversation_id, { content: `order ${id}` })
      await reach('message')
    })
  }
  await die()

  type Commit = (
    id: number,
    reach: (name: string) => unknown,
    work: (shared: SharedChat) => Promise<void>,
  ) => Promise<unknown>

  function onSqlite(): Commit {
    const handle = new Sqlite(url.slice('sqlite:'.length))
    return async (id, reach, work) => {
      const done = chat.withTransaction(handle, async (shared) => {
        handle.prepare('INSERT INTO orders VALUES (?)').run(id)
        await work(shared)
        await reach('posted')
      })
      // The commit is one call of SQLite, which nothing in this process can interrupt.
      await done
      await reach('commit')
    }
  }

  async function onPostgres(): Promise<Commit> {
    const client = new pg.Client(url)
    await client.connect()
    return async (id, reach, work) => {
      await client.query('BEGIN')
      await client.query('INSERT INTO orders VALUES ($1)', [id])
      await chat.withTransaction(client, work)
      await reach('posted')
      const committed = client.query('COMMIT')
      await reach('commit')
      await committed
    }
  }
}

async function die(): Promise<void> {
  // A short delay lets a statement that was sent reach the server, or not.
  if (Number(delay) > 0) await sleep(Number(delay))
  process.kill(process.pid, 'SIGKILL')
  // The signal arrives in a moment.
  await new Promise(() => setInterval(() => {}, 1000))
}
