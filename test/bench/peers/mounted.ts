// What mounting costs, in three programs: an express with an empty handler, the chat alone, and the chat in that express.
import { createServer } from 'node:http'
// @ts-expect-error express ships no types, and these few lines do not earn a dependency on them.
import express from 'express'
import { createChatApp, createNodeHandler } from '../../../lib/http/index.ts'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { listen } from './listen.ts'

const [what] = process.argv.slice(2)

async function startChat() {
  // A limit would refuse what one caller sends here.
  const config = parseConfig({ rate_limits: { default_rps: 0 } })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  return createNodeHandler(createChatApp(chat))
}

const app = express()
if (what === 'empty') app.use('/chat', (_: unknown, response: { end(): void }) => response.end())
if (what === 'mounted') app.use('/chat', await startChat())
listen(createServer(what === 'alone' ? await startChat() : app))
