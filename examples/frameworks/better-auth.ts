// The chat under /chat of an Express 5 app. The login is better-auth, under /api/auth.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/better-auth.ts          PORT=3000 by default, 0 picks a free one
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import compression from 'compression'
import express from 'express'
import { SECRET } from './people.ts'

const auth = betterAuth({
  secret: SECRET,
  baseURL: process.env.PUBLIC_URL ?? 'http://127.0.0.1:3000',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  databaseHooks: {
    session: { delete: { after: async ({ userId }) => void (await chat.sessions.endForSubject(userId)) } },
  },
})

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: async ({ headers }) => {
    const found = await auth.api.getSession({ headers })
    return found ? { subject: found.user.id, display_name: found.user.name } : undefined
  },
})
await chat.start()

const app = express()
app.use(compression())
app.all('/api/auth/{*path}', toNodeHandler(auth))
app.use(express.json())
app.use('/chat', createNodeHandler(createChatApp(chat)))
export const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
