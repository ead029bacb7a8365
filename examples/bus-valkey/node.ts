// One node of a chat that learns of the commits of the other nodes through Valkey or Redis, in milliseconds. Start two.
//
//   npm ci --prefix examples/bus-valkey
//   valkey-server        or redis-server
//   npx tsx examples/bus-valkey/node.ts postgres://chat:secret@127.0.0.1/chat redis://127.0.0.1:6379
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { serve } from 'chat-server/h3'
import { createBus } from './bus.ts'

const [database = 'postgres://chat:secret@127.0.0.1/chat', url = 'redis://127.0.0.1:6379'] = process.argv.slice(2)

const chat = createChatService(parseConfig(), await openStorage({ database }), { bus: createBus(url), log: console })
await chat.start()
const server = await serve(chat, { port: Number(process.env.PORT ?? 3000) })
console.log(`The chat listens on ${server.url}.`)

process.once('SIGTERM', async () => {
  await server.close()
  await chat.close()
  process.exit(0)
})
