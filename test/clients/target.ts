import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'

/** A service on an empty database in memory, over HTTP. */
export async function startTarget(): Promise<{ url: string; close(): Promise<void> }> {
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const server = createServer(createNodeListener(chat)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      chat.drain()
      server.close()
      server.closeAllConnections()
      await chat.close()
    },
  }
}
