// A chat for each customer of an application, in a schema of its own, on the connection pool of the application. A service
// is opened at the first request for its host name, and closed when it was not used for a while.
//
//   npx tsx examples/tenants.ts postgres://chat:secret@127.0.0.1/app red,blue     PORT=3000 by default, 0 picks a free one
//   curl http://red.localhost:3000/healthz
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Chat, createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import pg from 'pg'

const [database = 'postgres://chat:secret@127.0.0.1/app', names = 'red,blue', most = '50'] = process.argv.slice(2)

/** How many services are open at most, and after how long without a request or a stream one is closed. */
const MAX_OPEN = Number(most)
const IDLE_MS = 10 * 60_000

const pool = new pg.Pool({ connectionString: database, max: 10 })
pool.on('error', (error) => console.error(error.message))

interface Tenant {
  chat: Chat
  handle: ReturnType<typeof createNodeHandler>
  /** The number of requests and streams in progress. */
  open: number
  used_at: number
}

// Yours come from your database: a host name that does not exist must open nothing.
const TENANTS = new Set(names.split(','))
const tenants = new Map<string, Promise<Tenant>>()

async function openTenant(name: string): Promise<Tenant> {
  const storage = await openStorage({ database: pool, schema: `chat_${name}` })
  const config = parseConfig({
    // A tenant without streams asks the database once a second.
    cluster: { poll_ms: 1000 },
    security: { cookie: { prefix: `${name}_` } },
  })
  const chat = createChatService(config, storage)
  await chat.start()
  return { chat, handle: createNodeHandler(createChatApp(chat)), open: 0, used_at: Date.now() }
}

/** The service of a host name. The least recently used one that is idle gives way to it. */
async function tenantOf(name: string): Promise<Tenant> {
  const opening = tenants.get(name) ?? openTenant(name)
  // The end of the map has the most recently used ones.
  tenants.delete(name)
  tenants.set(name, opening)
  // One that cannot be opened is tried again.
  opening.catch(() => tenants.delete(name))
  if (tenants.size > MAX_OPEN) await closeIdle(0, 1)
  return opening
}

/** Closes up to `most` services that nobody uses, and that were not used for so long. */
async function closeIdle(idle_ms: number, most: number): Promise<void> {
  for (const [name, opening] of [...tenants].slice(0, -1)) {
    const tenant = await opening.catch(() => undefined)
    if (!tenant || tenant.open > 0 || Date.now() - tenant.used_at < idle_ms || most-- <= 0) continue
    tenants.delete(name)
    await tenant.chat.close()
    console.log(`Closed ${name}.`)
  }
}

const server = createServer(async (request, response) => {
  const name = (request.headers.host ?? '').split('.')[0]!
  if (!TENANTS.has(name)) return void response.writeHead(404).end('There is no such tenant.\n')
  try {
    const tenant = await tenantOf(name)
    tenant.open++
    response.once('close', () => {
      tenant.open--
      tenant.used_at = Date.now()
    })
    tenant.handle(request, response)
  } catch (error) {
    console.error(error)
    response.writeHead(503).end('The chat of this tenant cannot be opened.\n')
  }
})

const timer = setInterval(() => void closeIdle(IDLE_MS, MAX_OPEN), 60_000)
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`The tenants ${[...TENANTS].join(', ')} are at http://<name>.localhost:${port}.`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    clearInterval(timer)
    const open = await Promise.all([...tenants.values()].map((opening) => opening.catch(() => undefined)))
    for (const tenant of open) tenant?.chat.drain()
    server.close(async () => {
      await Promise.all(open.map((tenant) => tenant?.chat.close()))
      await pool.end()
    })
    server.closeIdleConnections()
  })
}
