// A page in React, rendered on the server and then in the browser, and the server for it.
//
//   npm install chat-server react react-dom esbuild tsx
//   npx tsx examples/react/server.ts      PORT=3000 by default, 0 picks a free one
//
// Open the address it prints, once as ada@example.org and once, in a private window, as grace@example.org.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Assistant, createChatService, defineTool, OPERATOR, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { build } from 'esbuild'
import { createElement, StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { App } from './app.tsx'

const password = 'correct horse battery'

/** Stands in for a model: it calls a tool where a table is asked for, and repeats all other questions. */
const assistant: Assistant = async function* ({ turns, step }) {
  const { content } = turns.at(-1)!
  if (step > 1) yield 'The table is booked.'
  else if (content.includes('table')) yield { tool_call: { name: 'book', input: {} } }
  else yield `You ask: ${content}`
}
const book = defineTool({
  title: 'Book a table',
  description: 'Books a table for tonight',
  input: { json_schema: { type: 'object' }, validate: (value) => ({ value }) },
  approval: { by: 'asker' },
  run: () => ({ table: 7 }),
})

const chat = createChatService(
  parseConfig({ assistant: { tools: ['book'] } }),
  await openStorage({ database: 'sqlite::memory:' }),
  { assistant, tools: { book } },
)
await chat.start()
const { user } = await chat.setup.run({ email: 'ada@example.org', password })
const ada = await chat.users.actor(user.id)
await chat.users.create(OPERATOR, { username: 'grace', email: 'grace@example.org', password })
const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
await chat.participants.add(ada, conversation_id, { username: 'grace' })
await chat.conversations.rename(ada, conversation_id, { policy: { receipts: 'on' } })
await chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
await chat.conversations.create(ada, { title: 'Assistant', layout: 'assistant' })

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('browser.tsx', import.meta.url))],
  bundle: true,
  format: 'esm',
  write: false,
})
const pages: Record<string, () => { type: string; body: string }> = {
  '/': () => ({
    type: 'text/html; charset=utf-8',
    body: `<!doctype html><title>Chat</title><link rel="icon" href="data:,">
<div id="root">${renderToString(createElement(StrictMode, null, createElement(App)))}</div>
<script type="module" src="/browser.js"></script>`,
  }),
  '/browser.js': () => ({ type: 'text/javascript; charset=utf-8', body: outputFiles[0]!.text }),
}

const handleChat = createNodeHandler(createChatApp(chat))
const server = createServer((request, response) => {
  const url = request.url ?? '/'
  if (url.startsWith('/chat/')) {
    request.url = url.slice('/chat'.length)
    return void handleChat(request, response)
  }
  const page = pages[url]?.()
  if (!page) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': page.type }).end(page.body)
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`Open http://127.0.0.1:${port}/`)
  console.log(`Sign in as ada@example.org or grace@example.org, with "${password}".`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    chat.drain()
    server.close(() => void chat.close())
    server.closeIdleConnections()
  })
}
