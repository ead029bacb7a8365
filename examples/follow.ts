// The library without HTTP: Grace follows a conversation, disconnects, and later gets exactly the events she missed.
//
//   npx tsx examples/follow.ts
import { createChatService, OPERATOR, openStorage, parseConfig } from 'chat-server'

const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
await chat.start()

const setup = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
const created = await chat.users.create(OPERATOR, { username: 'grace', email: 'grace@example.org' })
// An actor is the caller. A host with its own authentication needs no session of the service.
const ada = await chat.users.actor(setup.user.id)
const grace = await chat.users.actor(created.user.id)

const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
await chat.participants.add(ada, conversation_id, { user_id: grace.user_id })

// Load, then follow from the position of the load, so that no event is missed in between.
const { threads, stream_position } = await chat.threads.list(grace, conversation_id)
console.log(`Grace finds ${threads.length} threads.`)
await post('first')
const left = await readUntil('first', stream_position)

console.log('Grace goes away.')
await post('second')
await post('third')
console.log('Grace comes back.')
await readUntil('third', left)

await chat.close()

async function post(content: string): Promise<void> {
  await chat.messages.postRoot(ada, conversation_id, { content })
}

/** Prints events until the message with this content. Leaving the loop closes the stream. */
async function readUntil(content: string, last_event_id: string | undefined): Promise<string | undefined> {
  let last = last_event_id
  for await (const { id, event } of chat.events.follow(grace, conversation_id, { last_event_id })) {
    // Ephemeral events have no id: they are not stored, and a stream cannot resume from them.
    last = id ?? last
    if (event.type === 'stream.ready') console.log(`  ready, resumed: ${event.payload.resumed}`)
    if (event.type !== 'message.new') continue
    console.log(`  new message: ${event.payload.message.content}`)
    if (event.payload.message.content === content) break
  }
  return last
}
