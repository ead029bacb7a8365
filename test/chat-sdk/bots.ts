import { createMemoryState } from '@chat-adapter/state-memory'
import { Chat, type ChatConfig } from 'chat'
import { expect, onTestFinished } from 'vitest'
import { type ChatServerAdapterOptions, createChatServerAdapter } from '../../lib/chat-sdk/index.ts'
import { createChatClient } from '../../lib/client/index.ts'
import { openStore } from '../receive/stores.ts'
import { createSqliteFile } from '../support/databases.ts'
import { type Person, startThread, type TestService } from '../support/service.ts'

/** A conversation of Ada, with Grace and a bot of Ada, and what a program of the bot needs. */
export async function startPlace(service: TestService) {
  const place = await startThread(service)
  const { bot, key } = await place.ada.bots.create({ username: `helper${service.base_url.slice(-5)}${count++}` })
  await place.ada.participants.add(place.conversation_id, { user_id: bot.id })
  const client = createChatClient({ base_url: service.base_url, api_key: key, retry_ms: 10 })
  const file = await createSqliteFile()
  const opened = await openStore(file.url)
  onTestFinished(async () => {
    await opened.close()
    await file.remove()
  })
  return { ...place, bot, key, client, opened }
}

let count = 0

export type Place = Awaited<ReturnType<typeof startPlace>>

/** A program of the bot with the Chat SDK. */
export async function startBot(
  { client, opened }: Pick<Place, 'client' | 'opened'>,
  options: Partial<ChatServerAdapterOptions> = {},
  config: Partial<ChatConfig> = {},
) {
  const chatserver = createChatServerAdapter({ client, store: opened.store, ...options })
  const bot = new Chat({
    ...{ userName: 'helper', adapters: { chatserver }, state: createMemoryState() },
    ...{ concurrency: 'concurrent', logger: 'silent', ...config },
  })
  await bot.initialize()
  onTestFinished(() => bot.shutdown())
  return { bot, adapter: chatserver }
}

/** Lets a bot pull until the end of the test; resolves when it has its first position. */
export async function pulling({ adapter }: Awaited<ReturnType<typeof startBot>>, { opened }: Place): Promise<void> {
  const pulled = adapter.pull()
  onTestFinished(async () => {
    await adapter.disconnect!()
    await pulled
  })
  const position = async () => (await opened.store.positions('chatserver')).pulled
  await expect.poll(() => Promise.race([position(), pulled])).toBeDefined()
}

/** The texts of a thread in the order of their arrival, the root first. */
export async function textsOf(person: Person, root_id: string): Promise<string[]> {
  const { root, messages } = await person.threads.messages(root_id)
  return [root, ...messages].map(({ content }) => content)
}
