/** A node with the bus of an example: `bus-node.ts <example> <database> <url of the broker>`. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener } from '../../../lib/http/node/listener.ts'
import { type Bus, createChatService, openStorage, parseConfig } from '../../../lib/index.ts'

const [example, database, url] = process.argv.slice(2) as [string, string, string]
// Its packages need not be installed where this is compiled.
const { createBus } = (await import(`../../../examples/${example}/bus.ts`)) as { createBus: (url: string) => Bus }
const config = parseConfig({
  security: { password: { bcrypt_cost: 4 } },
  rate_limits: { default_rps: 1_000_000, burst: 1_000_000, auth_login_per_ip_per_min: 1_000_000 },
  sse: { max_streams_per_user: 10_000 },
})
const chat = createChatService(config, await openStorage({ database }), { bus: createBus(url), log: console })
await chat.start()
const server = createServer(createNodeListener(chat)).listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)

process.once('SIGTERM', async () => {
  server.closeAllConnections()
  server.close()
  await chat.close()
  process.exit(0)
})
