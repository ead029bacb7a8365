import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MIB } from '../../../lib/core/units.ts'
import { createChatApp, createNodeHandler } from '../../../lib/http/app.ts'
import { waitForTurn } from '../../../lib/http/response/stalls.ts'
import { createSqliteFile, type FreshDatabase } from '../../support/databases.ts'
import { collectGarbage } from '../../support/gc.ts'
import { PASSWORD, startService, startThread, type TestService, times } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

let database: FreshDatabase
let service: TestService
let root_id: string
let cookie: string

beforeAll(async () => {
  database = await createSqliteFile()
  service = await startService(database.url, { config: { server: { stalled_seconds: 1 } } })
  const { ada, root } = await startThread(service)
  root_id = root.root_id
  const content = '~'.repeat(65_536)
  for (let n = 0; n < 16; n++) await ada.messages.reply(root_id, { content })
  ;({ cookie } = await signInByHand(service.base_url, ada.email, PASSWORD))
}, 60_000)
afterAll(async () => {
  await service.close()
  await database.remove()
})

const portOf = (url: string) => Number(new URL(url).port)
const page = () => `GET /api/threads/${root_id}/tree?limit=500 HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\n\r\n`

/** A connection that pipelines requests and reads nothing. */
function ask(port: number, requests: number, path = page()): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => {})
  socket.write(path.repeat(requests))
  return socket
}

/** Resolves once the server has closed that connection, whatever is left to read. */
async function closedByServer(server: TestService['server'], connections: number): Promise<void> {
  const count = () => new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)))
  await expect.poll(count, { timeout: 40_000 }).toBeLessThanOrEqual(connections)
}

it('closes a connection whose client reads nothing of a response, and holds little memory until then', async () => {
  await collectGarbage()
  const rest = process.memoryUsage()
  // All requests together would produce 800 MiB of responses.
  const sockets = times(50, () => ask(portOf(service.base_url), 16))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  let most = 0
  const look = setInterval(() => {
    const { arrayBuffers, external } = process.memoryUsage()
    most = Math.max(most, arrayBuffers + external)
  }, 20)
  await closedByServer(service.server, 1)
  clearInterval(look)
  expect(most - rest.arrayBuffers - rest.external).toBeLessThan(150 * MIB)
  await collectGarbage()
  expect(process.memoryUsage().external - rest.external).toBeLessThan(20 * MIB)
  for (const socket of sockets) socket.destroy()
}, 60_000)

it('sends a slow reader all of the response', async () => {
  const socket = connect(portOf(service.base_url), '127.0.0.1')
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  socket.write(page().repeat(12))
  await expect.poll(() => bytes, { timeout: 20_000 }).toBeGreaterThan(11 * MIB)
  socket.destroy()
}, 60_000)

it('answers all requests of one connection one by one', async () => {
  const socket = connect(portOf(service.base_url), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20))
  await expect.poll(() => text.split('"status":"ok"').length - 1).toBe(20)
  socket.destroy()
})

it("does not close connections that wait for the host's own responses", async () => {
  const handler = createNodeHandler(createChatApp(service.chat))
  const host = createServer((request, response) =>
    request.url === '/own' ? response.end('~'.repeat(64 * MIB)) : handler(request, response),
  ).listen(0, '127.0.0.1')
  await once(host, 'listening')
  const { port } = host.address() as AddressInfo
  const own = ask(port, 1, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /own HTTP/1.1\r\nhost: x\r\n\r\n')
  const ours = ask(port, 16)
  await Promise.all([own, ours].map((socket) => once(socket, 'connect')))
  await closedByServer(host as TestService['server'], 1)
  expect(own.destroyed).toBe(false)
  own.destroy()
  ours.destroy()
  host.closeAllConnections()
  await new Promise((resolve) => host.close(resolve))
}, 60_000)

it('serves other connections between two pipelined requests of one', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const order: string[] = []
  const turn = waitForTurn(response)!.then(() => order.push('its turn'))
  response.emit('socket')
  // All requests received so far are handled before: sockets are read between ticks and immediates.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  order.push('others')
  await turn
  expect(order).toEqual(['others', 'its turn'])
})

it('ends the wait of a pipelined request whose client leaves before its turn', async () => {
  const turns: Promise<boolean>[] = []
  const server = createServer((_, response) => {
    const turn = waitForTurn(response)
    if (turn) turns.push(turn)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(3))
  await expect.poll(() => turns.length).toBe(2)
  socket.destroy()
  expect(await Promise.all(turns)).toEqual([false, false])
  server.close()
})
