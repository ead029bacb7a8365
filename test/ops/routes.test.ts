import { expect, it } from 'vitest'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService } from '../support/service.ts'

describeOnEachDatabase('operations', (openUrl) => {
  it('is healthy and ready, until it drains', async () => {
    const service = await startService(await openUrl())
    expect(await service.client().ops.health()).toEqual({ status: 'ok' })
    expect(await service.client().ops.readiness()).toEqual({
      status: 'ready',
      checks: { database: 'ok', migrations: 'ok', bus: 'ok', clock: 'ok' },
    })
    service.chat.drain()
    const response = await checkedFetch(`${service.base_url}/readyz`)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ code: 'unavailable', errors: [{ path: 'draining' }] })
    expect(await service.client().ops.health()).toEqual({ status: 'ok' })
    await service.close()
  })

  it('is not ready without its database', async () => {
    const service = await startService(await openUrl())
    await innerState(service).db.close()
    const response = await checkedFetch(`${service.base_url}/readyz`)
    expect(await response.json()).toMatchObject({ code: 'unavailable', errors: [{ path: 'database' }] })
    expect((await checkedFetch(`${service.base_url}/api/setup`)).status).toBe(503)
    await service.close()
  })
})
