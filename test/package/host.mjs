// A host's program, run as it is, and in bundles: sets a service up, signs in, and posts over HTTP.

import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatClient } from 'chat-server/client'
import { serve } from 'chat-server/h3'
import { createWebChat } from 'chat-server/web'

const credentials = { email: 'ada@example.org', password: 'correct horse battery' }

async function post() {
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  await chat.setup.run({ ...credentials, username: 'ada' })
  const server = await serve(chat, { port: 0, web: createWebChat() })
  const client = createChatClient({ base_url: server.url })
  await client.auth.login(credentials)
  const { conversation_id } = await client.conversations.create({ title: 'Engines' })
  const { message } = await client.messages.postRoot(conversation_id, { content: 'Does it run?' })
  const { status } = await fetch(server.url)
  if (status !== 200) throw new Error(`The page answered ${status}.`)
  await server.close({ drain_seconds: 1 })
  await chat.close()
  return message.content
}

void post().then((content) => console.log(content))
