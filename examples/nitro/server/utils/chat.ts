import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp } from 'chat-server/h3'
import { PEOPLE, readLogin } from './login'

const config = parseConfig({ server: { base_path: '/chat' } })
const storage = await openStorage({ database: process.env.DATABASE ?? 'sqlite:./chat.db' })

export const chat = createChatService(config, storage, {
  log: console,
  identity: async ({ request }) => {
    // A request of its own: h3 keeps what it has found out about one, also after the session has expired.
    const person_id = await readLogin({ req: new Request(request.url, { headers: request.headers }) })
    const person = PEOPLE.find(({ id }) => id === person_id)
    return person && { subject: person.id, username: person.username }
  },
})
await chat.start()
export const chatApp = createChatApp(chat)
