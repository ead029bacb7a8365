import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contextOf } from '../../../lib/core/context-of.ts'
import { type Chat, OPERATOR } from '../../../lib/index.ts'
import { insertWebhook } from '../../../lib/integrations/webhooks/store.ts'
import { webhookRow } from '../../support/webhook-rows.ts'
import { numbers, withChat } from './people.ts'

/** A receiver on this machine: `received` is called with each body, and answers are left out if it hangs. */
export async function startReceiver(received: (body: string) => void, { hangs = false } = {}) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received(body)
    if (!hangs) response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/events`,
    env: {
      CHAT_WEBHOOKS__ENABLED: 'true',
      CHAT_OUTGOING__ALLOW_HTTP: 'true',
      CHAT_OUTGOING__ALLOWED_NETWORKS: '127.0.0.0/8',
      CHAT_OUTGOING__ALLOWED_PORTS: String(port),
    },
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

const settingsFor = (url: string) => ({
  webhooks: { enabled: true },
  outgoing: { allow_http: true, allowed_networks: ['127.0.0.0/8'], allowed_ports: [Number(new URL(url).port)] },
})

/**
 * Webhooks of the operator, which need no challenge and get the events of all conversations.
 *
 * @returns their ids
 */
export function addWebhooks(
  database: string,
  url: string,
  count: number,
  settings: { parallel?: number } = {},
): Promise<string[]> {
  return withChat(
    database,
    async (chat) => {
      const ids: string[] = []
      for (let n = 0; n < count; n++) {
        const input = { url: `${url}/${n}`, content: true, ...settings }
        ids.push((await chat.webhooks.create(OPERATOR, input)).webhook.id)
      }
      return ids
    },
    settingsFor(url),
  )
}

/** Has a running service send a webhook all again that came after a position. */
export function replay(database: string, url: string, id: string, since: string): Promise<void> {
  return withChat(
    database,
    async (chat) => void (await chat.webhooks.replay(OPERATOR, id, { since })),
    settingsFor(url),
  )
}

/** Where the feed of a user is now. */
export async function positionOf(chat: Chat, userId: string): Promise<string> {
  return (await chat.feed.read(await chat.users.actor(userId))).position
}

/** Adds webhooks of a user of its own, who sees no event. */
export function addIdleWebhooks(database: string, count: number): Promise<void> {
  return withChat(database, async (chat) => {
    const { user } = await chat.users.create(OPERATOR, { username: 'idle', email: 'idle@example.org' })
    const position = await positionOf(chat, user.id)
    await contextOf(chat).db.write(async (tx) => {
      for (const n of numbers(count)) await insertWebhook(tx, webhookRow({ id: `w${n}`, user_id: user.id, position }))
    })
  })
}
