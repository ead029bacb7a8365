import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openService, startNode } from '../../../cli/cluster/node.ts'
import { loadConfig } from '../../../cli/config/load.ts'
import { createLogger } from '../../../cli/logging/logger.ts'
import { requestReload } from '../../../lib/cluster/reload-requests.ts'
import { listen } from '../../../lib/http/node/listen.ts'
import type { Chat } from '../../../lib/index.ts'
import { innerState } from '../../support/service.ts'
import { folder } from '../process.ts'

it('reads its configuration again for chat-server reload as soon as it is known to other processes', async () => {
  const cwd = folder({ 'chat-server.json': '{"log":{"level":"error"}}' })
  const flags = { config: join(cwd, 'chat-server.json'), database: `sqlite:${join(cwd, 'chat.db')}`, port: '0' }
  const { config } = loadConfig(flags)
  const log = createLogger(config.log)
  let chat: Chat | undefined
  const node = await startNode(config, log, {
    reloading: { flags },
    async onDatabase(started) {
      chat = started
    },
    // It is known since its start, and does not listen yet.
    async listen(...given) {
      writeFileSync(flags.config, '{"log":{"level":"error"},"metrics":{"token":"secret"}}')
      const { id } = innerState(chat!).cluster
      const command = await openService(config, log)
      const results = await requestReload(innerState(command).cluster.db, [id], { timeout_ms: 20_000 })
      await command.close()
      expect(results.get(id)).toMatchObject({ reloaded: true, changed: ['metrics.token'] })
      return listen(...given)
    },
  })
  onTestFinished(() => node.stop())
})
