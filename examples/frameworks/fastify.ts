// The chat under /chat of a Fastify 5 app, beside compression. The login is a signed cookie of @fastify/cookie.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/fastify.ts          PORT=3000 by default, 0 picks a free one
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import Fastify from 'fastify'
import { findByPassword, findPerson, SECRET, toIdentity } from './people.ts'

const app = Fastify()
await app.register(compress)
await app.register(cookie, { secret: SECRET })
const readLogin = (login: string | undefined) => (login && app.unsignCookie(login).value) || undefined

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: ({ headers }) => toIdentity(findPerson(readLogin(app.parseCookie(headers.get('cookie') ?? '').login))),
})
await chat.start()

app.post('/login', (request, reply) => {
  const person = findByPassword((request.body ?? {}) as object)
  if (person) reply.setCookie('login', person.id, { path: '/', httpOnly: true, sameSite: 'lax', signed: true })
  return reply.code(person ? 204 : 401).send()
})
app.post('/logout', async (request, reply) => {
  const id = readLogin(request.cookies.login)
  if (id) await chat.sessions.endForSubject(id)
  return reply.clearCookie('login', { path: '/' }).code(204).send()
})
app.register(async (scope) => {
  const handleChat = createNodeHandler(createChatApp(chat))
  // The chat reads its bodies itself.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  scope.all('/chat/*', (request, reply) => handleChat(request.raw, reply.hijack().raw))
})
app.addHook('preClose', async () => chat.drain())
app.addHook('onClose', () => chat.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
export const { server } = app
