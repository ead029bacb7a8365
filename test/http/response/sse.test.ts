import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { toNodeHandler } from 'h3/node'
import { afterEach, expect, it } from 'vitest'
import { type ChatApp, createChatApp, createNodeHandler } from '../../../lib/http/app.ts'
import { createSqliteFile } from '../../support/databases.ts'
import { collectGarbage } from '../../support/gc.ts'
import { PASSWORD, startService } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** An open stream of a host, whose listener is made of the app, and the web request that it was opened with. */
async function openStream(toListener: (app: ChatApp) => RequestListener) {
  const database = await createSqliteFile()
  open.push(database.remove)
  const service = await startService(database.url)
  open.push(service.close)
  const ada = await service.signIn('ada')
  const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
  let request: WeakRef<Request> | undefined
  const app = createChatApp(service.chat, {
    addressOf(asked) {
      request = new WeakRef(asked)
      return undefined
    },
  })
  const host = createServer(toListener(app)).listen(0, '127.0.0.1')
  open.push(async () => host.close())
  await once(host, 'listening')
  const asking = get({ port: (host.address() as AddressInfo).port, path: '/api/stream', headers: { cookie } })
  asking.on('error', () => {})
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  await once(response, 'data')
  open.push(async () => asking.destroy())
  return { request: () => request?.deref(), leave: () => asking.destroy() }
}

it('answers a post before it writes its event to the first stream', async () => {
  const database = await createSqliteFile()
  open.push(database.remove)
  const service = await startService(database.url)
  open.push(service.close)
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create()
  const headers = await signInByHand(service.base_url, ada.email, PASSWORD)
  const host = createServer(createNodeHandler(createChatApp(service.chat))).listen(0, '127.0.0.1')
  open.push(async () => host.close())
  await once(host, 'listening')
  const sockets: Socket[] = []
  host.on('connection', (socket) => void sockets.push(socket))
  const { port } = host.address() as AddressInfo
  for (let n = 0; n < 5; n++) {
    const asking = get({
      port,
      path: `/api/stream/conversations/${conversation_id}`,
      headers,
      agent: false,
    })
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    open.push(async () => asking.destroy())
    let text = ''
    response.on('error', () => {}).on('data', (bytes) => (text += bytes))
    await expect.poll(() => text).toContain('stream.ready')
  }
  const streams = [...sockets]
  const written = () => streams.map(({ bytesWritten }) => bytesWritten)
  const before = written()
  let atAnswer: number[] = []
  host.on('request', (_, response: ServerResponse) => response.once('prefinish', () => (atAnswer = written())))
  const posted = await fetch(`http://127.0.0.1:${port}/api/threads/${conversation_id}/root`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'text' }),
  })
  expect([posted.status, atAnswer]).toEqual([201, before])
  await expect.poll(() => written().every((bytes, index) => bytes > before[index]!)).toBe(true)
})

it('keeps nothing of the request while its stream is open', async () => {
  const { request } = await openStream(createNodeHandler)
  await collectGarbage()
  expect(request()).toBeUndefined()
})

it('tells a host that waits for it when its stream has ended', async () => {
  let ended = false
  const { leave } = await openStream((app) => {
    const handle = toNodeHandler(app as Parameters<typeof toNodeHandler>[0])
    return async (request, response) => {
      await handle(request, response)
      ended = true
    }
  })
  expect(ended).toBe(false)
  leave()
  await expect.poll(() => ended).toBe(true)
})
