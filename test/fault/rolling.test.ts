import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { copyPostgresDatabase } from '../support/databases.ts'
import { times } from '../support/service.ts'
import { startBalancer } from './balancer.ts'
import { inconsistenciesIn } from './invariants.ts'
import { type ServeProcess, startServe } from './serving.ts'
import { underLoad } from './under-load.ts'

/** Longer than the balancer needs to notice that a service is stopping. */
const DELAY = { CHAT_SERVER__DRAIN_DELAY_SECONDS: '1' }

describe.skipIf(!inject('postgres_url') || process.platform !== 'linux')('a rolling restart under load', () => {
  it.each([
    ['services of one process', '1'],
    ['services of two workers', '2'],
  ])(
    'of two %s fails no request, and no stream misses, repeats or reorders an event',
    async (_, workers) => {
      const { url, remove } = await copyPostgresDatabase()
      const balancer = await startBalancer()
      const start = async () => {
        const server = await startService(url, workers)
        await balancer.add(server.port)
        return server
      }
      const servers = [await start(), await start()]
      await underLoad(balancer.base_url, async (progress) => {
        for (const index of times(servers.length, (each) => each)) {
          await progress()
          servers[index]!.signal('SIGTERM')
          expect(await servers[index]!.exit).toBe(0)
          balancer.remove(servers[index]!.port)
          servers[index] = await start()
        }
      })
      for (const server of servers) server.signal('SIGTERM')
      expect(await Promise.all(servers.map(({ exit }) => exit))).toEqual([0, 0])
      await balancer.close()
      expect(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })).toEqual([])
      await remove()
    },
    120_000,
  )

  it('of the workers of a service, one after the other, fails no request either', async () => {
    const { url, remove } = await copyPostgresDatabase()
    const server = await startService(url, '2')
    const first = workersOf(server)
    await underLoad(server.base_url, async (progress) => {
      for (const pid of first) {
        await progress()
        process.kill(pid, 'SIGTERM')
        while (workersOf(server).includes(pid) || workersOf(server).length < 2) await sleep(20)
        const ready = async () =>
          (await (await fetch(`${server.base_url}/metrics`)).text()).includes('\nchat_workers 2\n')
        while (!(await ready())) await sleep(20)
      }
    })
    expect(workersOf(server).some((pid) => first.includes(pid))).toBe(false)
    server.signal('SIGTERM')
    expect(await server.exit).toBe(0)
    await remove()
  }, 120_000)
})

async function startService(url: string, workers: string): Promise<ServeProcess> {
  const server = await startServe(url, { env: { ...DELAY, CHAT_CLUSTER__WORKERS: workers } })
  onTestFinished(() => server.signal('SIGKILL'))
  return server
}

function workersOf({ pid }: ServeProcess): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return list.split(' ').filter(Boolean).map(Number)
}
