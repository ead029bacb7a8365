// The chat under /chat of a bare fetch handler, as Bun, Deno, Cloudflare and many frameworks take it. The login is a
// signed cookie.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/fetch.ts          PORT=3000 by default, 0 picks a free one
import { type Http2Bindings, type HttpBindings, serve } from '@hono/node-server'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp } from 'chat-server/h3'
import { findByPassword, findPerson, toIdentity } from './people.ts'
import { readLogin, SIGNED_OUT, signedIn } from './signed-cookie.ts'

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: ({ headers }) => toIdentity(findPerson(readLogin(headers.get('cookie')))),
})
await chat.start()
const addresses = new WeakMap<Request, string | undefined>()
const chatApp = createChatApp(chat, { addressOf: (request) => addresses.get(request) })

/** @param address of the peer: `server.requestIP(request).address` in Bun, `info.remoteAddr.hostname` in Deno */
export async function handle(request: Request, address: string | undefined): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/chat/')) {
    addresses.set(request, address)
    return chatApp.fetch(request)
  }
  if (request.method === 'POST' && pathname === '/login') {
    const person = findByPassword(await request.json().catch(() => ({})))
    return new Response(
      null,
      person ? { status: 204, headers: { 'set-cookie': signedIn(person.id) } } : { status: 401 },
    )
  }
  if (request.method === 'POST' && pathname === '/logout') {
    const id = readLogin(request.headers.get('cookie'))
    if (id) await chat.sessions.endForSubject(id)
    return new Response(null, { status: 204, headers: { 'set-cookie': SIGNED_OUT } })
  }
  return new Response('The application.\n')
}

const fetch = (request: Request, { incoming }: HttpBindings | Http2Bindings) =>
  handle(request, incoming.socket.remoteAddress)
export const server = serve({ fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
