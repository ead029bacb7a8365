/**
 * A minimal host, for tests that kill it: `server.ts <database> <port> [configuration as JSON] [seconds] [file]`. Its clock
 * is ahead by so many seconds; with a file for their effects it has tools.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentMicros } from '../../lib/core/time.ts'
import { SECOND } from '../../lib/core/units.ts'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { createChatService, type Message, openStorage, parseConfig } from '../../lib/index.ts'
import { ASKS_HOST, PIECES, pieceOf } from './streams.ts'
import { scriptedTools } from './tool-script.ts'

const [database, port, config = '{}', ahead = '0', effects] = process.argv.slice(2)
const chat = createChatService(
  parseConfig({
    security: { password: { bcrypt_cost: 4 } },
    // All load of a test comes from one user and one address.
    rate_limits: { default_rps: 0, auth_login_per_ip_per_min: 1_000_000 },
    session: { max_sessions_per_user: false },
    ...JSON.parse(config),
  }),
  await openStorage({ database: database! }),
  {
    ...(ahead !== '0' && { now: () => currentMicros() + Number(ahead) * SECOND }),
    ...(effects && scriptedTools(effects)),
  },
)
await chat.start()

/** Between two pieces of a text that this host writes: it lasts about a second. */
const PIECE_MS = 25

chat.on('message.new', ({ payload: { message } }) => {
  // The next event does not wait for the text, and a killed process cuts it.
  if (message.content.startsWith(ASKS_HOST)) void writeBelow(message).catch(console.error)
})

async function writeBelow({ id: parent_id, conversation_id, content }: Message): Promise<void> {
  const name = content.slice(ASKS_HOST.length)
  const stream = await chat.messages.stream(await chat.system('writer'), conversation_id, { parent_id })
  for (let n = 0; n < PIECES; n++) {
    await stream.write(pieceOf(name, n))
    await sleep(PIECE_MS)
  }
  await stream.end()
}

const server = createServer(createNodeListener(chat)).listen(Number(port), '127.0.0.1', () =>
  console.log(JSON.stringify(server.address() as AddressInfo)),
)

// The parent process has ended.
process.stdin.resume().on('end', () => process.exit())
