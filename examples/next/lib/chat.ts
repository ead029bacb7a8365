import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp } from 'chat-server/h3'
import { assistant } from './assistant'
import { loginOf, PEOPLE } from './login'

async function start() {
  const config = parseConfig({ server: { base_path: '/chat' } })
  const storage = await openStorage({ database: process.env.DATABASE ?? 'sqlite:./chat.db' })
  const chat = createChatService(config, storage, {
    log: console,
    assistant,
    identity: async ({ request }) => {
      const { person_id } = await loginOf(request)
      const person = PEOPLE.find(({ id }) => id === person_id)
      return person && { subject: person.id, username: person.username }
    },
  })
  await chat.start()
  // Next adds the address of the peer, unless the request has the header already: a proxy in front has to set it.
  const addressOf = ({ headers }: Request) => headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return { chat, app: createChatApp(chat, { addressOf }) }
}

// Next loads a module several times, in each of its bundles and at every change during development.
const shared = globalThis as { chat?: ReturnType<typeof start> }

/** The chat of the process. It starts at the first call, so not during the build. */
export function getChat() {
  shared.chat ??= start()
  return shared.chat
}
