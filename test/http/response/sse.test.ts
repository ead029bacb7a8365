import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
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
