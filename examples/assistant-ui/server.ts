// A page of assistant-ui, and the chat, in one process. Everyone who opens it is Ada.
//
//   npm install --prefix examples/assistant-ui
//   npx tsx examples/assistant-ui/server.ts      PORT=3000 by default, 0 picks a free one
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Assistant, createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { build } from 'esbuild'

/** Stands in for a model: it counts as far as the question says. */
const assistant: Assistant = async function* ({ turns, signal }) {
  const last = Number(/\d+/.exec(turns.at(-1)!.content)?.[0] ?? 10)
  for (let n = 1; n <= last; n++) {
    yield `${n} `
    await setTimeout(100, undefined, { signal })
  }
}

const config = parseConfig({ server: { base_path: '/chat' } })
const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  assistant,
  // In place of the login of an application.
  identity: () => ({ subject: 'ada', username: 'ada' }),
})
await chat.start()
const handleChat = createNodeHandler(createChatApp(chat))

const PAGE = `<!doctype html><title>Chat</title><link rel="icon" href="data:,">
<div id="root"></div><script type="module" src="/page.js"></script>`
const entryPoints = [fileURLToPath(new URL('page.tsx', import.meta.url))]
const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', jsx: 'automatic', write: false })

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname.startsWith('/chat/')) return handleChat(request, response)
  if (pathname === '/page.js') return response.setHeader('content-type', 'text/javascript').end(outputFiles[0]!.text)
  return response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE)
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})

process.once('SIGTERM', () => {
  chat.drain()
  server.close(() => void chat.close())
  server.closeIdleConnections()
})
