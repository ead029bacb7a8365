// The chat under /chat of an Express 5 app, behind a body parser and compression. The login is Passport.
//
//   npm ci --prefix examples/frameworks
//   npx tsx examples/frameworks/express-passport.ts          PORT=3000 by default, 0 picks a free one
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import compression from 'compression'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { findByPassword, findPerson, type Person, SECRET, toIdentity } from './people.ts'

passport.use(new Strategy((username, password, done) => done(null, findByPassword({ username, password }) ?? false)))
passport.serializeUser((user, done) => done(null, (user as Person).id))
passport.deserializeUser((id: string, done) => done(null, findPerson(id) ?? false))

const config = parseConfig({ server: { base_path: '/chat' } })
export const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
  log: console,
  identity: ({ node }) => toIdentity((node?.req as (IncomingMessage & { user?: Person }) | undefined)?.user),
})
await chat.start()

const app = express()
app.use(compression(), express.json())
app.use(session({ secret: SECRET, resave: false, saveUninitialized: false }))
app.use(passport.session())
app.post('/login', passport.authenticate('local'), (_request, response) => void response.sendStatus(204))
app.post('/logout', async (request, response) => {
  const person = request.user as Person | undefined
  await promisify(request.logout.bind(request) as (done: (error: unknown) => void) => void)()
  // An open stream keeps the user of its request: only this ends it.
  if (person) await chat.sessions.endForSubject(person.id)
  response.sendStatus(204)
})
app.use('/chat', createNodeHandler(createChatApp(chat)))
export const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
