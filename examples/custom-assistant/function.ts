// An assistant that is a function: it counts the words of the thread, message by message, and needs no model.
//
//   npx tsx examples/custom-assistant/function.ts
import { setTimeout as pause } from 'node:timers/promises'
import { type Assistant, createChatService, openStorage, parseConfig } from 'chat-server'
import { converse } from './converse.ts'

/** Yields the answer chunk by chunk; when it returns, the answer is complete. */
const wordCounter: Assistant = async function* ({ turns, signal }) {
  let total = 0
  // The messages from the thread's root to the question, which is the last.
  for (const { content } of turns) {
    const count = content.split(/\s+/).length
    total += count
    yield `${count} words: ${content}\n`
    // Pass the signal to every slow operation. It then throws when the answer is cancelled or the service stops.
    await pause(100, undefined, { signal })
  }
  yield `${total} words by ${new Set(turns.map(({ user_id }) => user_id)).size} people.`
  yield { finish_reason: 'stop', usage: { prompt_tokens: total, completion_tokens: 0, total_tokens: total } }
}

const storage = await openStorage({ database: 'sqlite::memory:' })
// The texts as they were written, also where several people write.
const config = parseConfig({ assistant: { names: 'never' } })
const chat = createChatService(config, storage, { assistant: wordCounter })
await chat.start()
await converse(chat, 'How much was said?')
await chat.close()
