// The chat under /chat of a server of node:http. The login is a signed cookie.
//
//   npx tsx examples/frameworks/node.ts          PORT=3000 by default, 0 picks a free one
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { findByPassword, findPerson, toIdentity } from './people.ts'
import { readLogin, SIGNED_OUT, signedIn } from './signed-cookie.ts'

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: ({ headers }) => toIdentity(findPerson(readLogin(headers.get('cookie')))),
})
await chat.start()
const handleChat = createNodeHandler(createChatApp(chat))

export const server = createServer(async (request, response) => {
  if (request.url?.startsWith('/chat/')) return handleChat(request, response)
  if (request.method === 'POST' && request.url === '/login') {
    const person = findByPassword((await json(request).catch(() => ({}))) as object)
    if (person) response.setHeader('set-cookie', signedIn(person.id))
    return response.writeHead(person ? 204 : 401).end()
  }
  if (request.method === 'POST' && request.url === '/logout') {
    const id = readLogin(request.headers.cookie)
    if (id) await chat.sessions.endForSubject(id)
    return response.writeHead(204, { 'set-cookie': SIGNED_OUT }).end()
  }
  response.end('The application.\n')
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
