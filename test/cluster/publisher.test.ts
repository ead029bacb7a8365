import { afterEach, expect, it, vi } from 'vitest'
import { createPublisher } from '../../lib/cluster/publisher.ts'
import { openStorage, parseConfig } from '../../lib/index.ts'
import { createSqliteFile } from '../support/databases.ts'

afterEach(() => void vi.useRealTimers())

it('gathers what a bus does not take, as without a bus', async () => {
  const { url, remove } = await createSqliteFile()
  const storage = await openStorage({ database: url })
  await storage.migrate()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const publisher = createPublisher(
    'here',
    { isAlone: () => false, isNode: () => true },
    {
      db: storage.signals!,
      bus: { publish: () => Promise.reject(new Error('The bus is down')), subscribe() {}, close() {} },
      isEphemeral: () => true,
      config: parseConfig({}),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      metrics: { signalsSent() {}, signalsDropped() {} } as never,
    },
  )
  const rows = () => storage.signals!.all<{ body: string }>('SELECT body FROM signals')
  for (let n = 0; n < 10; n++) {
    const payload = { conversation_id: 'c', user_id: `${n}`, expires_at: '2026-01-01T00:00:00.000Z' }
    publisher.announce([{ conversation_id: 'c', event: { type: 'typing.update', payload } }])
    await vi.advanceTimersByTimeAsync(2)
  }
  expect(await rows()).toEqual([])
  await publisher.flush()
  const [row, ...others] = await rows()
  expect(others).toEqual([])
  expect(JSON.parse(row!.body).events).toHaveLength(10)
  vi.useRealTimers()
  await publisher.close()
  await storage.close()
  await remove()
})
