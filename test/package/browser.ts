/** Code of a strict browser project; it compiles against the installed package without the types of Node. */
import { type ChatClient, createChatClient } from 'chat-server/client'
import { createAdminClient } from 'chat-server/client/admin'

export async function open(): Promise<ChatClient | undefined> {
  const client = createChatClient({ base_url: document.location.origin })
  const { is_setup } = await client.setup.get()
  return is_setup ? client : undefined
}

export async function* newTexts(client: ChatClient, conversation_id: string): AsyncGenerator<string> {
  for await (const { event } of client.events.follow(conversation_id)) {
    if (event.type === 'message.new') yield event.payload.message.content ?? ''
  }
}

export async function usernames(): Promise<string[]> {
  const { users } = await createAdminClient({ base_url: document.location.origin }).users.list()
  return users.map(({ username }) => username)
}
