/**
 * Moves the chat that an application wrote itself into the service: its users, rooms and messages, with their times.
 * It may be run again: what was moved stays as it is.
 */
import { ChatError, createChatService, OPERATOR, openStorage, parseConfig } from 'chat-server'

// What your own tables have. Read them with your driver; messages by the time at which they were sent.
const users = [
  { id: '1', name: 'ada', email: 'ada@example.org' },
  { id: '2', name: 'grace', email: 'grace@example.org' },
]
const rooms = [{ id: '7', title: 'Engines', created_at: '2024-05-01T09:00:00Z', members: ['1', '2'] }]
const messages = [
  { id: '100', room: '7', author: '1', reply_to: undefined, text: 'Does it run?', sent_at: '2024-05-01T10:00:00Z' },
  { id: '101', room: '7', author: '2', reply_to: '100', text: 'It runs.', sent_at: '2024-05-01T10:05:00Z' },
  { id: '102', room: '7', author: '1', reply_to: undefined, text: 'Lunch?', sent_at: '2024-05-02T11:30:00Z' },
]

/** The time that the service takes what is moved to have happened at, in milliseconds. */
let time = Date.now()
const ports = { identity: () => undefined, now: () => time * 1000 }
const storage = await openStorage({ database: process.argv[2] ?? 'sqlite:./data/chat.db' })
const chat = createChatService(parseConfig(), storage, ports)
// No jobs in the background: they would see the time of the past.
await chat.start({ background: false })

for (const { id, name, email } of users) await chat.users.ensure(OPERATOR, { subject: id, username: name, email })

const conversations = new Map<string, string>()
for (const { id, title, created_at, members } of rooms) {
  time = Date.parse(created_at)
  const [first, ...others] = members
  const owner = await chat.users.actorOf(first!)
  const { conversation_id } = await chat.conversations.ensure(owner, { ref: `room-${id}`, title })
  conversations.set(id, conversation_id)
  for (const subject of others)
    await chat.participants.add(owner, conversation_id, { subject }).catch((error) => {
      if (!(error instanceof ChatError && error.code === 'already_participant')) throw error
    })
}

const moved = new Map<string, string>()
const roots = new Map<string, string>()
for (const { id, room, author, reply_to, text, sent_at } of messages) {
  time = Date.parse(sent_at)
  const actor = await chat.users.actorOf(author)
  // Run again within a day, the key returns the message of the first time.
  const input = { content: text, metadata: { imported: id }, idempotency_key: `import-${id}` }
  const parent = reply_to && moved.get(reply_to)
  const { message_id, root_id } = parent
    ? await chat.messages.reply(actor, parent, input)
    : await chat.messages.postRoot(actor, conversations.get(room)!, input)
  moved.set(id, message_id)
  roots.set(root_id, room)
}

// What was moved is not new to those who were there.
time = Date.now()
for (const [root_id, room] of roots)
  for (const subject of rooms.find(({ id }) => id === room)!.members)
    await chat.threads.markRead(await chat.users.actorOf(subject), root_id, {})

console.log(`${users.length} users, ${conversations.size} rooms and ${moved.size} messages are in the chat.`)
await chat.close()
