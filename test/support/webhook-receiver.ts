import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'

/** A call that a receiver got. */
export interface Received {
  id: string
  type: string
  headers: IncomingMessage['headers']
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: of any type of event.
  event: any
}

/** How a receiver answers a call; a number is a status, and a function answers by itself. */
export type Answer = number | { status: number; headers: Record<string, string> } | ((response: ServerResponse) => void)

/** Far above what a call takes on a busy machine. */
const PATIENT = { timeout: 30_000, interval: 10 }

/** Receives webhooks on this machine. */
export interface WebhookReceiver {
  port: number
  url: string
  calls: Received[]
  /** The text of each message that was received, in the order of the calls. */
  contents(): string[]
  answer: (call: Received, n: number) => Answer
  /** Resolves when there were so many calls. */
  waitFor(calls: number): Promise<void>
  close(): void
}

/** Starts a receiver that takes everything until `answer` is set. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const calls: Received[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const event = JSON.parse(body)
    const call = { id: String(request.headers['webhook-id']), type: event.type, headers: request.headers, body, event }
    const answer = receiver.answer(call, calls.push(call) - 1)
    if (typeof answer === 'function') answer(response)
    else if (typeof answer === 'number') response.writeHead(answer).end()
    else response.writeHead(answer.status, answer.headers).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = {
    port,
    url: `http://127.0.0.1:${port}/events`,
    calls,
    contents: () => calls.flatMap(({ event }) => event.data.message?.content ?? []),
    answer: () => 204,
    waitFor: (count) => vi.waitUntil(() => calls.length >= count, PATIENT).then(() => {}),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return receiver
}

/** The configuration of a service that sends to receivers of this machine. */
export function webhooksTo(...receivers: Pick<WebhookReceiver, 'port'>[]) {
  const ports = receivers.map(({ port }) => port)
  return {
    webhooks: { enabled: true, trusted_hosts: ports.map((port) => `127.0.0.1:${port}`) },
    outgoing: { allow_http: true, allowed_networks: ['127.0.0.0/8'], allowed_ports: ports },
  }
}
