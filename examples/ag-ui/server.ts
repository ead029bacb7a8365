// A page with the agent of AG-UI, and the chat, in one process. Everyone who opens it is Ada.
//
//   npm install --prefix examples/ag-ui
//   npx tsx examples/ag-ui/server.ts      PORT=3000 by default, 0 picks a free one
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Assistant, createChatService, defineTool, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { build } from 'esbuild'
import * as v from 'valibot'

/** What only a person may let happen. */
const refund = defineTool({
  title: 'Refund',
  description: 'Pays an order back.',
  input: v.object({ order: v.string() }),
  approval: { by: 'asker' },
  run: ({ order }) => `${order} is paid back.`,
})

/** Stands in for a model: it pays back an order that the question names, or else counts as far as the question says. */
const assistant: Assistant = async function* ({ turns, so_far, signal }) {
  const question = turns.at(-1)!.content
  const order = /A-\d+/.exec(question)?.[0]
  const call = so_far.find((part) => part.type === 'tool')
  if (call) yield call.state === 'done' ? String(call.output) : 'Nothing is paid back.'
  else if (order) yield { tool_call: { name: 'refund', input: { order } } }
  else {
    const last = Number(/\d+/.exec(question)?.[0] ?? 10)
    for (let n = 1; n <= last; n++) {
      yield `${n} `
      await setTimeout(100, undefined, { signal })
    }
  }
}

const config = parseConfig({
  server: { base_path: '/chat' },
  features: { ag_ui: true },
  assistant: { tools: ['refund'] },
})
const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  assistant,
  tools: { refund },
  // In place of the login of an application.
  identity: () => ({ subject: 'ada', username: 'ada' }),
})
await chat.start()
const handleChat = createNodeHandler(createChatApp(chat))

const PAGE = `<!doctype html><title>Chat</title><link rel="icon" href="data:,">
<main></main>
<form>
  <input name="text" placeholder="Count to 50, or refund A-1001" required> <button>Send</button>
  <button type="button" name="stop">Stop</button> <button type="button" name="again">Ask again</button>
</form>
<script type="module" src="/page.js"></script>`
const entryPoints = [fileURLToPath(new URL('page.ts', import.meta.url))]
const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', write: false })

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
