// The application of docs/embedding/ten-minutes.md: an Express app with a login of its own, and a chat for its people.
//
//   npm install chat-server express express-session react react-dom esbuild
//   node examples/ten-minutes/server.js          PORT=3000 by default, 0 picks a free one
import { randomBytes } from 'node:crypto'
import { createChatService, OPERATOR, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { build } from 'esbuild'
import express from 'express'
import session from 'express-session'

const people = [
  { id: '1', username: 'ada', password: 'correct horse' },
  { id: '2', username: 'grace', password: 'battery staple' },
]

// The chat. It asks the application who calls.
const config = parseConfig({ server: { base_path: '/chat' } })
const storage = await openStorage({ database: 'sqlite::memory:' })
const chat = createChatService(config, storage, {
  identity({ node }) {
    const { id, username } = people.find(({ id }) => id === node?.req.session?.person_id) ?? {}
    return id && { subject: id, username }
  },
})
await chat.start()

// A conversation for all. All of this may run at each start: it finds what is there already.
const app_actor = await chat.system('app')
const { conversation_id } = await chat.conversations.ensure(app_actor, { ref: 'all', title: 'Everybody' })
for (const { id, username } of people) {
  await chat.users.ensure(OPERATOR, { subject: id, username })
  await chat.participants.add(app_actor, conversation_id, { subject: id }).catch((error) => {
    if (error.code !== 'already_participant') throw error
  })
}

// The application: its sessions, its login, its logout. Without SESSION_SECRET, the sessions end with the process.
const secret = process.env.SESSION_SECRET ?? randomBytes(32).toString('base64url')
const app = express()
app.use(session({ secret, resave: false, saveUninitialized: false }))
app.post('/login', express.urlencoded({ extended: false }), (request, response) => {
  const { username, password } = request.body
  const person = people.find((each) => each.username === username && each.password === password)
  request.session.regenerate(() => {
    if (person) request.session.person_id = person.id
    request.session.save(() => response.redirect('/'))
  })
})
app.post('/logout', (request, response) => {
  const { person_id } = request.session
  request.session.destroy(async () => {
    if (person_id) await chat.sessions.endForSubject(person_id)
    response.redirect('/')
  })
})

// The chat over HTTP, and the page.
app.use('/chat', createNodeHandler(createChatApp(chat)))
const entryPoints = [new URL('page.jsx', import.meta.url).pathname]
const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', jsx: 'automatic', write: false })
app.get('/page.js', (_request, response) => response.type('text/javascript').send(outputFiles[0].text))
app.get('/', (request, response) => response.send(request.session.person_id ? PAGE : LOGIN))

const HEAD = '<!doctype html><title>Chat</title><link rel="icon" href="data:,">'
const LOGIN = `${HEAD}<form id="login" method="post" action="/login">
  <input name="username" placeholder="ada"> <input name="password" type="password"> <button>Sign in</button>
</form>`
const PAGE = `${HEAD}<form id="logout" method="post" action="/logout"><button>Sign out</button></form>
<div id="root"></div><script type="module" src="/page.js"></script>`

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${server.address().port}/`)
})
process.once('SIGTERM', () => {
  chat.drain()
  server.close(() => chat.close())
  server.closeIdleConnections()
})
