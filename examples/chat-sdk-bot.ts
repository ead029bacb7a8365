// A bot of the Chat SDK (the package `chat`): it answers the command /count, and all that mention it, with a stream. It
// survives its restart: the file has the ids of the events that it was handed.
//
//   npx tsx examples/chat-sdk-bot.ts http://localhost:8080 key.txt bot.db
import { readFileSync } from 'node:fs'
import { createMemoryState } from '@chat-adapter/state-memory'
import Database from 'better-sqlite3'
import { Chat } from 'chat'
import { createChatServerAdapter } from 'chat-server/chat-sdk'
import { createChatClient } from 'chat-server/client'
import { sqliteStore } from 'chat-server/receive'

const [base_url = 'http://localhost:8080', key = 'key.txt', file = 'bot.db'] = process.argv.slice(2)
const client = createChatClient({ base_url, api_key: readFileSync(key, 'utf8').trim() })
const store = sqliteStore(new Database(file))
await store.migrate()
const chatserver = createChatServerAdapter({ client, store })
const bot = new Chat({ userName: 'counter', adapters: { chatserver }, state: createMemoryState(), logger: 'warn' })

/** In place of a model. */
async function* countTo(last: number) {
  for (let n = 1; n <= last; n++) yield `${n} `
}

const to = { name: 'to', description: 'The last number', type: 'integer' as const, required: true }
const { user } = await client.auth.me()
await client.commands.setOfBot(user.id, { commands: [{ name: 'count', description: 'Counts', options: [to] }] })
bot.onSlashCommand(
  '/count',
  async (event) => void (await bot.thread(event.channel.id).post(countTo(Number(event.text)))),
)
bot.onNewMention(async (thread) => void (await thread.post(countTo(3))))

await bot.initialize()
process.once('SIGTERM', () => bot.shutdown())
console.log('Waiting for commands.')
await chatserver.pull()
