/** A node of `clock.ts`, a process with a clock of its own: it steps at the parent's word, and then does what services do. */
import { contextOf } from '../../lib/core/context-of.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'

const now = Date.now
let ahead = 0
Date.now = () => now() + ahead

const [url = '', token = ''] = process.argv.slice(2)
const storage = await openStorage({ database: url })
const chat = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } } }), storage)
await chat.start()
const { config } = contextOf(chat)
const { clockKeeper } = contextOf(chat).ops

/** What a request does, and what jobs do. */
async function work(conversationId: string): Promise<void> {
  const headers = new Headers({ cookie: `${config.session.session_cookie_name}=${token}` })
  const actor = await chat.auth.authenticate(headers)
  await chat.messages.postRoot(actor, conversationId, { content: 'A message' })
  await chat.ops.prune()
  await clockKeeper.check()
  await chat.ops.prune()
}

process.on('message', async (message: { ahead: number; conversation_id: string } | 'stop') => {
  if (message === 'stop') return chat.close().then(() => process.disconnect())
  ahead = message.ahead
  try {
    await work(message.conversation_id)
    process.send!({ ok: true })
  } catch (error) {
    process.send!({ ok: false, error: String(error) })
  }
})
process.send!({ ok: true })
