// The chat under /chat of a Hono app on Node, behind compression. The login is a signed cookie of Hono.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/hono.ts          PORT=3000 by default, 0 picks a free one
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp } from 'chat-server/h3'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { deleteCookie, setSignedCookie } from 'hono/cookie'
import { parseSigned } from 'hono/utils/cookie'
import { findByPassword, findPerson, SECRET, toIdentity } from './people.ts'

const readLogin = async ({ headers }: { headers: Headers }) =>
  (await parseSigned(headers.get('cookie') ?? '', SECRET, 'login')).login || undefined

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: async (request) => toIdentity(findPerson(await readLogin(request))),
})
await chat.start()
const chatApp = createChatApp(chat)

const app = new Hono()
app.use(compress())
app.post('/login', async (context) => {
  const person = findByPassword(await context.req.json().catch(() => ({})))
  if (!person) return context.body(null, 401)
  await setSignedCookie(context, 'login', person.id, SECRET, { httpOnly: true, sameSite: 'Lax' })
  return context.body(null, 204)
})
app.post('/logout', async (context) => {
  const id = await readLogin(context.req.raw)
  if (id) await chat.sessions.endForSubject(id)
  deleteCookie(context, 'login')
  return context.body(null, 204)
})
app.all('/chat/*', (context) => {
  const ip = getConnInfo(context).remote.address
  return chatApp.fetch(Object.assign(context.req.raw, { ip }))
})
export const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
