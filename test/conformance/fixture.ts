import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChatApp, createNodeHandler } from '../../lib/http/index.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'

/** A service with the endpoint of MCP, whose callers are all one user: the suite has no credentials. */
export async function startFixture(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = parseConfig({ features: { mcp: true }, server: { public_url: url } })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), {
    identity: () => ({ subject: 'suite', username: 'suite' }),
  })
  await chat.start()
  server.on('request', createNodeHandler(createChatApp(chat)))
  return {
    url: `${url}/mcp`,
    async close() {
      server.closeAllConnections()
      server.close()
      await chat.close()
    },
  }
}
