// A server with a tool for `chat-server serve`. It pays orders back, and each call once, however often it arrives.
//
//   SHOP_KEY=secret npx tsx examples/refund-server.ts shop.db
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Sqlite from 'better-sqlite3'

/** What the service sends; `input` has passed the schema of the tool. */
interface Call {
  call_id: string
  input: { order: string; cents: number }
  user: { id: string; username: string; subject?: string }
}

const KEY = process.env.SHOP_KEY ?? 'secret'
const db = new Sqlite(process.argv[2] ?? ':memory:')
db.exec(`
  CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, cents INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS refunds (
    call_id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES orders,
    cents INTEGER NOT NULL,
    requested_by TEXT NOT NULL
  );
  INSERT OR IGNORE INTO orders VALUES ('A-1001', 5000);
`)

/** What the user and the model may read. */
class Refusal extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

/** In one transaction, with the call as the key: a call that arrives again finds its row. */
const refund = db.transaction(({ call_id, input: { order, cents }, user }: Call) => {
  const isDone = db.prepare('SELECT 1 FROM refunds WHERE call_id = ?').get(call_id) !== undefined
  const paid = db.prepare('SELECT cents FROM orders WHERE id = ?').pluck().get(order) as number | undefined
  if (paid === undefined) throw new Refusal(404, `There is no order ${order}.`)
  const back = db.prepare('SELECT sum(cents) FROM refunds WHERE order_id = ?').pluck().get(order) as number | null
  const left = paid - (back ?? 0)
  if (isDone) return { order, cents, left }
  if (cents > left) throw new Refusal(409, `Of order ${order}, ${left} cents can be paid back.`)
  db.prepare('INSERT INTO refunds VALUES (?, ?, ?, ?)').run(call_id, order, cents, user.subject ?? user.id)
  return { order, cents, left: left - cents }
})

function answer(response: ServerResponse, status: number, content: object): void {
  const type = status < 300 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(content))
}

function isAllowed({ headers }: IncomingMessage): boolean {
  const [sent, own] = [headers.authorization ?? '', `Bearer ${KEY}`].map((text) => Buffer.from(text))
  return sent!.length === own!.length && timingSafeEqual(sent!, own!)
}

const server = createServer(async (request, response) => {
  try {
    if (request.method !== 'POST' || request.url !== '/refund') throw new Refusal(404, 'There is no such tool.')
    if (!isAllowed(request)) throw new Refusal(401, 'The shop does not know this caller.')
    const call = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Call
    answer(response, 200, { output: refund.immediate(call) })
  } catch (error) {
    // Any other failure is 500: then the service does not know whether the order was paid back, and says so.
    if (error instanceof Refusal) answer(response, error.status, { detail: error.message })
    else answer(response, 500, {})
  }
}).listen(Number(process.env.PORT ?? 0), '127.0.0.1')
await once(server, 'listening')
console.log(`The tool is at http://127.0.0.1:${(server.address() as AddressInfo).port}/refund`)

process.once('SIGTERM', () => server.close())
