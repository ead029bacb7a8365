// A chat whose files are checked by ClamAV, and whose pictures get thumbnails from sharp.
//
//   npm install --prefix examples/file-checks
//   npx tsx examples/file-checks/service.ts /run/clamav/clamd.ctl     PORT=3000 by default, 0 picks a free one
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChatService, openStorage, parseConfig } from 'chat-server'
import { createChatApp, createNodeHandler } from 'chat-server/h3'
import { createScan } from './scan.ts'
import { thumbnail } from './thumbnail.ts'

const [path = '/run/clamav/clamd.ctl'] = process.argv.slice(2)
const config = parseConfig({ attachments: { enabled: true } })
const chat = createChatService(config, await openStorage({ database: 'sqlite:./data/chat.db' }), {
  scan: createScan({ path }),
  thumbnail,
})
await chat.start()

const server = createServer(createNodeHandler(createChatApp(chat)))
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`The chat listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    chat.drain()
    server.close(() => void chat.close())
    server.closeIdleConnections()
  })
}
