// The chat under /chat of a node:http server, beside routes of the host's own.
//
//   npx tsx examples/embed-node.ts          PORT=3000 by default, 0 picks a free one
//   curl http://127.0.0.1:3000/chat/healthz
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ChatError, createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'

const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
await chat.start()
await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
const handleChat = createNodeHandler(createChatApp(chat))

const server = createServer((request, response) => {
  const url = request.url ?? '/'
  if (url === '/chat' || url.startsWith('/chat/')) {
    // The chat does not know where it is mounted.
    request.url = url.slice('/chat'.length) || '/'
    return handleChat(request, response)
  }
  if (url === '/hello') return void hello(request, response)
  response.writeHead(404).end('The host has no such page.\n')
})

/** A page of the host itself, which knows the signed-in user of the chat. */
async function hello(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const actor = await chat.auth.authenticate(new Headers({ cookie: request.headers.cookie ?? '' }))
    const { user } = await chat.auth.me(actor)
    response.end(`Hello ${user.username}.\n`)
  } catch (error) {
    const isKnown = error instanceof ChatError
    response.writeHead(isKnown ? error.status : 500).end(isKnown ? `${error.message}\n` : 'Something went wrong.\n')
  }
}

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`The host listens on http://127.0.0.1:${port}, the chat is under /chat.`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // Streams end with an event that makes clients reconnect later; then nothing keeps the server open.
    chat.drain()
    server.close(() => void chat.close())
    server.closeIdleConnections()
  })
}
