import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { send } from '../../../lib/integrations/webhooks/sending.ts'
import { newWebhookSecret, signCall } from '../../../lib/integrations/webhooks/signing.ts'
import { LONG_MS, onRequests, openOutgoing, startReceiver } from '../../outgoing/outgoing.ts'

const NOW = 1_700_000_000_400_000
const BODY = '{"id":"evt_1"}'

type Sent = { headers: Record<string, unknown>; body: string; method: string }

async function startHttp(status: number, { headers = {}, text = '' } = {}) {
  const received: Sent[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers, body, method: request.method! })
    response.writeHead(status, headers).end(text)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { received, port: (server.address() as AddressInfo).port }
}

function sendTo(
  port: number,
  options: { headers?: Record<string, string>; reads_body?: boolean; timeout_ms?: number },
) {
  const { headers = {}, reads_body = false, timeout_ms = LONG_MS } = options
  const outgoing = openOutgoing({ allowed_ports: [port] })
  const secrets = [newWebhookSecret('v1'), newWebhookSecret('v1a')]
  const receiver = { id: 'w1', url: `http://127.0.0.1:${port}/in?a=1`, headers, secrets }
  const call = { id: 'evt_1', body: BODY, position: 'p-1', origin: 'service', timeout_ms, reads_body }
  return { sent: send({ outgoing, now: () => NOW }, receiver, call), secrets }
}

it('sends an event with its id, its time, its position and a signature of each secret', async () => {
  const { received, port } = await startHttp(204)
  const own = { authorization: 'Bearer x', 'x-team': 'crm', 'webhook-id': 'other' }
  const { sent, secrets } = sendTo(port, { headers: own })
  expect(await sent).toEqual({ status: 204, ms: expect.any(Number) })
  expect(received).toEqual([
    {
      method: 'POST',
      body: BODY,
      headers: expect.objectContaining({
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'webhook-timestamp': '1700000000',
        'webhook-signature': signCall({ id: 'evt_1', timestamp: 1_700_000_000, body: BODY }, secrets),
        'x-chat-server-webhook': 'w1',
        'x-chat-server-position': 'p-1',
        'x-chat-server-origin': 'service',
        authorization: 'Bearer x',
        'x-team': 'crm',
      }),
    },
  ])
})

it('returns a body only if it is asked for, and at most 4 KiB of it', async () => {
  const { port } = await startHttp(200, { text: 'x'.repeat(10_000) })
  expect(await sendTo(port, {}).sent).toEqual({ status: 200, ms: expect.any(Number) })
  const { body } = await sendTo(port, { reads_body: true }).sent
  expect(body).toBe('x'.repeat(4096))
})

it.each([301, 400, 410, 429, 500, 503])('takes status %i for a failure, with Retry-After', async (status) => {
  const { received, port } = await startHttp(status, { headers: { 'retry-after': '7', location: '/' } })
  expect(await sendTo(port, {}).sent).toEqual({ status, ms: expect.any(Number), error: 'status', retry_after: '7' })
  expect(received).toHaveLength(1)
})

it('ends at the deadline when a receiver never answers', async () => {
  const { port } = await startReceiver((socket) => onRequests(socket, () => {}))
  expect(await sendTo(port, { timeout_ms: 50 }).sent).toEqual({ ms: expect.any(Number), error: 'timeout' })
})

it('takes an answer that is none of HTTP, a refused connection and a forbidden address for failures', async () => {
  const { port } = await startReceiver((socket) => onRequests(socket, () => socket.end('no HTTP\r\n\r\n')))
  expect(await sendTo(port, {}).sent).toMatchObject({ error: 'protocol' })
  const { port: closed, server } = await startReceiver(() => {})
  server.close()
  expect(await sendTo(closed, {}).sent).toMatchObject({ error: 'connect' })
  const outgoing = openOutgoing({ allowed_networks: [], allowed_ports: [port] })
  const receiver = { id: 'w1', url: `http://127.0.0.1:${port}/`, headers: {}, secrets: [newWebhookSecret('v1')] }
  const call = { id: 'evt_1', body: BODY, origin: 'service', timeout_ms: LONG_MS }
  expect(await send({ outgoing, now: () => NOW }, receiver, call)).toMatchObject({ error: 'address_forbidden' })
})
