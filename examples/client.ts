// A client of a running service: it signs in, loads a conversation, follows it, and posts.
//
//   npm start                               in another terminal
//   npx tsx examples/client.ts              [address] [e-mail] [password]
import { createChatClient } from 'chat-server/client'

const [base_url = 'http://127.0.0.1:8080', email = 'ada@example.org', password = 'correct horse battery'] =
  process.argv.slice(2)
const client = createChatClient({ base_url })

const { is_setup } = await client.setup.get()
if (!is_setup) await client.setup.run({ email, password })
// From here on the client stores the session and sends the CSRF token.
const { user } = await client.auth.login({ email, password })
console.log(`Signed in as ${user.username}.`)

const { conversation_id } = await client.conversations.create({ title: 'Engines' })
const { root_id } = await client.messages.postRoot(conversation_id, { content: 'Does it run?' })

// Load, then follow from the position of the load, so that no event is missed in between.
const { messages, stream_position } = await client.threads.tree(root_id)
for (const message of messages) console.log(`loaded:  ${message.content}`)

await client.messages.reply(root_id, { content: 'It runs.' })
for await (const { event } of client.events.follow(conversation_id, { last_event_id: stream_position })) {
  if (event.type !== 'message.new') continue
  console.log(`arrived: ${event.payload.message.content}`)
  break
}
await client.auth.logout()
