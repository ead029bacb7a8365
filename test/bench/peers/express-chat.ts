// A chat as a competent user of express, socket.io and better-sqlite3 would write it: durable, and one commit a post.
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
// @ts-expect-error express ships no types, and these few lines do not earn a dependency on them.
import express from 'express'
import { Server } from 'socket.io'
import { listen } from './listen.ts'

const db = new Database(process.argv[2])
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`
  CREATE TABLE sessions (id TEXT PRIMARY KEY, user_id INTEGER NOT NULL, expires_at INTEGER NOT NULL);
  CREATE TABLE members (conversation_id INTEGER, user_id INTEGER, PRIMARY KEY (conversation_id, user_id)) WITHOUT ROWID;
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL, author_id INTEGER NOT NULL,
    content TEXT NOT NULL, created_at INTEGER NOT NULL
  );
  CREATE INDEX messages_by_conversation ON messages (conversation_id, id);
  INSERT INTO sessions VALUES ('bench', 1, 9e15);
  INSERT INTO members VALUES (1, 1);
`)

const findSession = db.prepare<[string, number], { user_id: number }>(
  'SELECT user_id FROM sessions WHERE id = ? AND expires_at > ?',
)
const isMember = db.prepare<[number, number]>('SELECT 1 FROM members WHERE conversation_id = ? AND user_id = ?')
const insertMessage = db.prepare<[number, number, string, number]>(
  'INSERT INTO messages (conversation_id, author_id, content, created_at) VALUES (?, ?, ?, ?)',
)

function userOf(cookie = ''): number | undefined {
  const id = /(?:^|; )SESSION_ID=([^;]+)/.exec(cookie)?.[1]
  return id ? findSession.get(id, Date.now())?.user_id : undefined
}

const app = express()
const server = createServer(app)
// The load client answers no pings, so none may fall due while it listens.
const io = new Server(server, { pingInterval: 600_000 })

io.on('connection', (socket) => {
  const user = userOf(socket.handshake.headers.cookie)
  const conversation = Number(socket.handshake.query.conversation)
  if (user && isMember.get(conversation, user)) socket.join(`conversation:${conversation}`)
  else socket.disconnect()
})

interface PostRequest {
  headers: { cookie?: string }
  params: { id: string }
  body?: { content?: unknown }
}

interface PostResponse {
  status(code: number): { json(value: unknown): void }
}

app.use(express.json())
app.post('/conversations/:id/messages', (request: PostRequest, response: PostResponse) => {
  const user = userOf(request.headers.cookie)
  if (!user) return response.status(401).json({ error: 'sign in first' })
  const conversation = Number(request.params.id)
  if (!isMember.get(conversation, user)) return response.status(404).json({ error: 'no such conversation' })
  const content = request.body?.content
  if (typeof content !== 'string' || !content.trim()) return response.status(422).json({ error: 'content is missing' })

  const created_at = Date.now()
  const { lastInsertRowid } = insertMessage.run(conversation, user, content, created_at)
  const message = { id: Number(lastInsertRowid), conversation_id: conversation, author_id: user, content, created_at }
  io.to(`conversation:${conversation}`).emit('message', message)
  response.status(201).json(message)
})

listen(server)
