import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdminClient } from '../../lib/client/admin.ts'
import type { ChatClient } from '../../lib/client/index.ts'
import { ChatError } from '../../lib/core/chat-error.ts'
import { startNodes } from './nodes.ts'
import { settle } from './people.ts'

/** A service that is killed again and again while it calls a webhook. */
export interface WebhookCrashOptions {
  /** An empty database. */
  url: string
  kills: number
  /** The number of messages between two kills, at least. */
  messages: number
  random: () => number
}

/** The result of a run. */
export interface WebhookCrashFigures {
  messages: number
  kills: number
  /** The calls for an event that was taken before. */
  repeated: number
  /** Messages of which the receiver never heard. */
  missing: number
}

/** Each posts one message after another. */
const WRITERS = 4

/** The share of calls that the receiver lets wait: later ones are settled before them. */
const SLOW = 0.02
const SLOW_MS = 1_000

/** How long nothing may come while some is missed: a lease has to lapse. */
const PATIENCE_MS = 45_000

const RETRY_MS = 50

/** Kills the only process that sends, and counts what comes twice and never. */
export async function crashWebhooks({
  url,
  kills,
  messages,
  random,
}: WebhookCrashOptions): Promise<WebhookCrashFigures> {
  const receiver = await startReceiver(random)
  const nodes = await startNodes(url, 1, {
    bots: { enabled: true, messages_per_min: 1_000_000 },
    webhooks: { enabled: true, trusted_hosts: [`127.0.0.1:${receiver.port}`] },
    outgoing: { allow_http: true, allowed_networks: ['127.0.0.0/8'], allowed_ports: [receiver.port] },
  })
  try {
    const { conversation_id, signIn } = await settle(nodes.first)
    const ada = await signIn()
    const { bot, key } = await ada.bots.create({ username: 'crier' })
    await ada.participants.add(conversation_id, { user_id: bot.id })
    await ada.webhooks.create({ url: receiver.url, types: ['message.new'] })
    const writer = createAdminClient({ base_url: nodes.first, api_key: key })
    const posted = new Set<string>()
    for (let n = 0; n < kills; n++) {
      const until = posted.size + messages
      const from = posted.size
      const writing = Promise.all(
        Array.from({ length: WRITERS }, (_, w) => write(writer, conversation_id, posted, `${n}.${w}`, until)),
      )
      // Somewhere amid their calls.
      const at = from + Math.floor(messages * (0.3 + random() * 0.4))
      while (receiver.taken.size < at) await sleep(5)
      await nodes.kill()
      await nodes.restart()
      await writing
    }
    const missing = () => [...posted].filter((id) => !receiver.taken.has(id)).length
    let [left, end] = [missing(), performance.now() + PATIENCE_MS]
    while (left > 0 && performance.now() < end) {
      await sleep(RETRY_MS)
      const now = missing()
      if (now < left) [left, end] = [now, performance.now() + PATIENCE_MS]
    }
    return { messages: posted.size, kills, repeated: receiver.repeated(), missing: missing() }
  } finally {
    await nodes.stop()
    receiver.close()
  }
}

/** Posts until so many are posted by all writers; what got no answer is repeated. */
async function write(
  client: ChatClient,
  conversation_id: string,
  posted: Set<string>,
  name: string,
  until: number,
): Promise<void> {
  for (let n = 0; posted.size < until; n++) {
    const input = { content: `${name}.${n}`, idempotency_key: `post ${name}.${n}` }
    for (let isPosted = false; !isPosted; ) {
      try {
        posted.add((await client.messages.postRoot(conversation_id, input)).message_id)
        isPosted = true
      } catch (error) {
        if (error instanceof ChatError && error.code !== 'unavailable') throw error
        await sleep(RETRY_MS)
      }
    }
  }
}

async function startReceiver(random: () => number) {
  const taken = new Set<string>()
  let repeated = 0
  const server = createServer(async (request, response) => {
    const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (random() < SLOW) await sleep(SLOW_MS)
    const { id } = data.message
    if (taken.has(id)) repeated++
    taken.add(id)
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/events`,
    taken,
    repeated: () => repeated,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
