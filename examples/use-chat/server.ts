// A page with useChat of the AI SDK, an application with a login of its own, and the chat, in one process.
//
//   npm install --prefix examples/use-chat
//   npx tsx examples/use-chat/server.ts      PORT=3000 by default, 0 picks a free one
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Assistant, createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { build } from 'esbuild'

// The login of the application: its people, and who has signed in with which cookie.
const passwords = new Map([
  ['ada', 'correct horse'],
  ['grace', 'battery staple'],
])
const sessions = new Map<string, string>()
const readLogin = (cookies: string | null | undefined) =>
  sessions.get(/session=([\w-]+)/.exec(cookies ?? '')?.[1] ?? '')

/** Stands in for a model: it counts as far as the question says. */
const assistant: Assistant = async function* ({ turns, signal }) {
  const last = Number(/\d+/.exec(turns.at(-1)!.content)?.[0] ?? 10)
  for (let n = 1; n <= last; n++) {
    yield `${n} `
    await setTimeout(100, undefined, { signal })
  }
}

// The chat. It asks the application who calls.
const config = parseConfig({ server: { base_path: '/chat' } })
const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  assistant,
  identity({ headers }) {
    const name = readLogin(headers.get('cookie'))
    return name ? { subject: name, username: name } : undefined
  },
})
await chat.start()
const handleChat = createNodeHandler(createChatApp(chat))

const HEAD = '<!doctype html><title>Chat</title><link rel="icon" href="data:,">'
const LOGIN = `${HEAD}<form method="post" action="/login">
  <input name="name" placeholder="ada"> <input name="password" type="password"> <button>Sign in</button>
</form>`
const PAGE = `${HEAD}<div id="root"></div><script type="module" src="/page.js"></script>`
const entryPoints = [fileURLToPath(new URL('page.tsx', import.meta.url))]
const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', jsx: 'automatic', write: false })

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname.startsWith('/chat/')) return handleChat(request, response)
  if (pathname === '/page.js') return response.setHeader('content-type', 'text/javascript').end(outputFiles[0]!.text)
  if (pathname === '/login' && request.method === 'POST') {
    const form = new URLSearchParams(await text(request))
    const [name, password] = [form.get('name') ?? '', form.get('password')]
    if (password && passwords.get(name) === password) {
      const session = randomUUID()
      sessions.set(session, name)
      response.setHeader('set-cookie', `session=${session}; Path=/; HttpOnly; SameSite=Lax`)
    }
    return response.writeHead(303, { location: '/' }).end()
  }
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(readLogin(request.headers.cookie) ? PAGE : LOGIN)
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  console.log('Sign in as ada, with "correct horse", or as grace, with "battery staple".')
})

process.once('SIGTERM', () => {
  chat.drain()
  server.close(() => void chat.close())
  server.closeIdleConnections()
})
