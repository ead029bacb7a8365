// Runs in a project that has installed the package with --omit=optional, and prints what works there and what does not.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { serve } from 'chat-server/h3'

// A db0 database on the host's own better-sqlite3, which this project does not have: Node 20 has no SQLite.
const [modules] = process.argv.slice(2)
const Sqlite = createRequire(join(modules, 'host.js'))('better-sqlite3')
const handle = new Sqlite(':memory:')
const database = { dialect: 'sqlite', getInstance: async () => handle }

const grace = { subject: '42', username: 'grace', email: 'grace@example.org', roles: ['admin'] }
const chat = createChatService(parseConfig(), await openStorage({ database }), {
  identity: ({ headers }) => (headers.get('x-token') === 'secret' ? grace : undefined),
})
await chat.start()
const server = await serve(chat, { port: 0 })
const answer = await fetch(`${server.url}/api/auth/me`, { headers: { 'x-token': 'secret' } })
const { user } = await answer.json()
await server.close()
await chat.close()

const own = createChatService(
  parseConfig(),
  await openStorage({ database: { ...database, getInstance: async () => new Sqlite(':memory:') } }),
)
await own.start()
const failure = await own.setup
  .run({ email: 'ada@example.org', password: 'correct horse battery' })
  .catch((error) => error)
await own.close()

console.log(JSON.stringify({ status: answer.status, username: user.username, password: failure.message }))
