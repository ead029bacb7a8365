// A page that signs in, loads a conversation and follows it, in plain JavaScript, and the server for it.
//
//   npx tsx examples/browser/server.ts      PORT=3000 by default, 0 picks a free one
//
// Open the address it prints, once as ada@example.org and once, in a private window, as grace@example.org.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChatService, OPERATOR, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'

const password = 'correct horse battery'
const page = readFileSync(new URL('page.html', import.meta.url))

const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
await chat.start()
const { user } = await chat.setup.run({ email: 'ada@example.org', display_name: 'Ada Lovelace', password })
const ada = await chat.users.actor(user.id)
const grace = { username: 'grace', email: 'grace@example.org', display_name: 'Grace Hopper', password }
await chat.users.create(OPERATOR, grace)
const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
await chat.participants.add(ada, conversation_id, { username: 'grace' })
await chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })

const handleChat = createNodeHandler(createChatApp(chat))
const server = createServer((request, response) => {
  const url = request.url ?? '/'
  if (url === '/') return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  if (!url.startsWith('/chat/')) return void response.writeHead(404).end()
  request.url = url.slice('/chat'.length)
  handleChat(request, response)
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`Open http://127.0.0.1:${port}/#${conversation_id}`)
  console.log(`Sign in as ada@example.org or grace@example.org, with "${password}".`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    chat.drain()
    server.close(() => void chat.close())
    server.closeIdleConnections()
  })
}
