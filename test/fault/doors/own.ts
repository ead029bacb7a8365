import { createChatClient } from '../../../lib/client/index.ts'
import { withResolvers } from '../../support/with-resolvers.ts'
import { startFollowers } from '../followers.ts'

import type { Caller, Door, Reading, Visit } from './door.ts'

/** A connection has at least one event, and each of them is about so long. */
const MIN_BYTES = 4096
const BYTES_PER_EVENT = 400

const clientOf = ({ base_url, key }: Caller) => createChatClient({ base_url, api_key: key })

/** The HTTP API, and the stream of the conversation. */
export const own: Door = {
  name: 'api',
  ends: { complete: 'stop', cancelled: 'cancelled', failed: 'error', interrupted: 'interrupted' },

  async ask(caller, { content, key }) {
    const question = { content, role: 'assistant', idempotency_key: key } as const
    return (await clientOf(caller).messages.postRoot(caller.conversation_id, question)).message_id
  },

  read,

  async decide(caller, { call_id }, approve) {
    await clientOf(caller).approvals.decide(call_id, { approve })
  },

  async stop(caller, message_id) {
    await clientOf(caller).answers.cancel(message_id)
  },
}

/** Follows the conversation from before the question, behind the last event that the client has. */
async function read({ asked, caller, leaveAfter, signal, fault, onConnect }: Visit): Promise<Reading> {
  const { conversation_id, cookie } = await caller()
  const { message_id, position: from } = asked
  const ended = withResolvers<string>()
  const followers = startFollowers({
    conversation_id,
    cookie,
    from,
    readers: 1,
    async target() {
      onConnect()
      return (await caller()).base_url
    },
    cutAfter: () => MIN_BYTES + leaveAfter() * BYTES_PER_EVENT,
    onEvent({ type, payload }) {
      if (type === 'message.done' && payload.message_id === message_id) ended.resolve(payload.finish_reason)
    },
  })
  signal.addEventListener('abort', () => ended.resolve(''))
  try {
    const end = await ended.promise
    signal.throwIfAborted()
    const { faults, log } = await followers.finish(`${from.slice(0, from.indexOf('.'))}.0`)
    faults.forEach(fault)
    const frames = [...log.values()].filter((note) => note.includes(`${message_id}:`))
    const start = new RegExp(`^${message_id}:\\d+ `)
    const text = frames.map((note) => (start.test(note) ? note.replace(start, '') : '')).join('')
    return { text, end, frames }
  } finally {
    await followers.stop()
  }
}
