// One node of a chat that learns of the commits of the other nodes through NATS, in milliseconds. Start two of them.
//
//   npm ci --prefix examples/bus-nats
//   nats-server
//   npx tsx examples/bus-nats/node.ts postgres://chat:secret@127.0.0.1/chat nats://127.0.0.1:4222
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { serve } from 'chat-server/h3'
import { createBus } from './bus.ts'

const [database = 'postgres://chat:secret@127.0.0.1/chat', url = 'nats://127.0.0.1:4222'] = process.argv.slice(2)

const chat = createChatService(parseConfig(), await openStorage({ database }), { bus: createBus(url), log: console })
await chat.start()
const server = await serve(chat, { port: Number(process.env.PORT ?? 3000) })
console.log(`The chat listens on ${server.url}.`)

process.once('SIGTERM', async () => {
  await server.close()
  await chat.close()
  process.exit(0)
})
