// The chat under /chat of an Express 5 app, behind a body parser and compression. The login is express-session.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/express-session.ts          PORT=3000 by default, 0 picks a free one
import { promisify } from 'node:util'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import compression from 'compression'
import express, { type Request } from 'express'
import session from 'express-session'
import { findByPassword, findPerson, SECRET, toIdentity } from './people.ts'

declare module 'express-session' {
  interface SessionData {
    person_id: string
  }
}

const store = new session.MemoryStore()
const findSession = promisify(store.get.bind(store)) as (id: string) => Promise<session.SessionData | null | undefined>
const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  // From the store, not from `request.session`: the chat asks about an open stream again, with the request that opened it.
  identity: async ({ node }) => {
    const found = await findSession((node?.req as Request | undefined)?.sessionID ?? '')
    return toIdentity(findPerson(found?.person_id))
  },
})
await chat.start()

const app = express()
app.use(compression(), express.json())
app.use(session({ store, secret: SECRET, resave: false, saveUninitialized: false }))
app.post('/login', async (request, response) => {
  const person = findByPassword(request.body ?? {})
  if (!person) return void response.sendStatus(401)
  await promisify(request.session.regenerate.bind(request.session))()
  request.session.person_id = person.id
  response.sendStatus(204)
})
app.post('/logout', async (request, response) => {
  const id = request.session.person_id
  await promisify(request.session.destroy.bind(request.session))()
  if (id) await chat.sessions.endForSubject(id)
  response.sendStatus(204)
})
app.use('/chat', createNodeHandler(createChatApp(chat)))
export const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
