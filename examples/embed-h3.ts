// The chat as a part of an h3 app, under /chat.
//
//   npx tsx examples/embed-h3.ts            PORT=3000 by default, 0 picks a free one
//   curl http://127.0.0.1:3000/chat/healthz
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp } from 'chat-server/h3'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'

const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
await chat.start()

const app = new H3()
// The host's middleware runs before the chat, and gets the complete path of the request.
app.use((event) => {
  console.log(`${event.req.method} ${event.url.pathname}`)
})
app.get('/', () => 'Hello from the host.\n')
app.mount('/chat', createChatApp(chat))

const server = createServer(toNodeHandler(app))
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`The host listens on http://127.0.0.1:${port}, the chat is under /chat.`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    chat.drain()
    server.close(() => void chat.close())
    server.closeIdleConnections()
  })
}
