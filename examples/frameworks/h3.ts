// The chat under /chat of an h3 app, version 2. The login is a session of h3, a sealed cookie.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/h3.ts          PORT=3000 by default, 0 picks a free one
import { createServer } from 'node:http'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp } from 'chat-server/h3'
import { clearSession, getSession, H3, HTTPResponse, readBody, type SessionConfig, updateSession } from 'h3'
import { toNodeHandler } from 'h3/node'
import { findByPassword, findPerson, SECRET, toIdentity } from './people.ts'

type Login = { person_id?: string }
const SESSION: SessionConfig = { password: SECRET, cookie: { sameSite: 'lax' } }

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: async ({ request }) => {
    // A request of its own: h3 keeps what it has found out about one, also after the session has expired.
    const req = new Request(request.url, { headers: request.headers })
    return toIdentity(findPerson((await getSession<Login>({ req }, SESSION)).data.person_id))
  },
})
await chat.start()

const app = new H3()
app.post('/login', async (event) => {
  const person = findByPassword((await readBody<object>(event)) ?? {})
  if (person) await updateSession<Login>(event, SESSION, { person_id: person.id })
  return new HTTPResponse(null, { status: person ? 204 : 401 })
})
app.post('/logout', async (event) => {
  const { person_id } = (await getSession<Login>(event, SESSION)).data
  await clearSession(event, SESSION)
  if (person_id) await chat.sessions.endForSubject(person_id)
  return new HTTPResponse(null, { status: 204 })
})
app.mount('/chat', createChatApp(chat))
export const server = createServer(toNodeHandler(app)).listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
