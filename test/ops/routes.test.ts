import { expect, it } from 'vitest'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { startService, startThread } from '../support/service.ts'

describeOnEachDatabase('operations', (openUrl) => {
  it('is healthy and ready, until it drains', async () => {
    const service = await startService(await openUrl())
    expect(await service.client().readHealth()).toEqual({ status: 'ok' })
    expect(await service.client().readReadiness()).toEqual({
      status: 'ready',
      checks: { database: 'ok', migrations: 'ok', bus: 'ok' },
    })
    service.chat.drain()
    const response = await checkedFetch(`${service.base_url}/readyz`)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ code: 'unavailable', errors: [{ path: 'draining' }] })
    expect(await service.client().readHealth()).toEqual({ status: 'ok' })
    await service.close()
  })

  it('is not ready without its database', async () => {
    const service = await startService(await openUrl())
    await service.chat.context.db.close()
    const response = await checkedFetch(`${service.base_url}/readyz`)
    expect(await response.json()).toMatchObject({ code: 'unavailable', errors: [{ path: 'database' }] })
    expect((await checkedFetch(`${service.base_url}/api/setup`)).status).toBe(503)
    await service.close()
  })
})

it('counts by route template, and nothing about who signs in', async () => {
  const service = await startService('sqlite::memory:')
  const { ada, conversation_id } = await startThread(service)
  await ada.readConversation({ params: { conversation_id } })
  for (let i = 0; i < 50; i++) await checkedFetch(`${service.base_url}/fuzz/${i}`)
  const page = await service.client().readMetrics()
  expect(page).toContain(
    'chat_http_request_duration_seconds_count{method="GET",route="/api/conversations/{conversation_id}",status="200"} 1',
  )
  expect(page).toMatch(/chat_storage_write_duration_seconds_count \d+/)
  expect(page).toMatch(/chat_streams_open 0/)
  expect(page).not.toMatch(/auth|setup|login|fuzz/)
  expect(page).not.toContain(conversation_id)
  expect(
    page
      .split('\n')
      .every((line) => line === '' || line.startsWith('# ') || /^[a-z_0-9]+(\{.*\})? [\d.e+-]+$/.test(line)),
  ).toBe(true)
  await service.close()
})

it('shows its counters to who has the token', async () => {
  const service = await startService('sqlite::memory:', { config: { metrics: { token: 'let-me-look' } } })
  const get = (authorization?: string) =>
    checkedFetch(`${service.base_url}/metrics`, { headers: { ...(authorization && { authorization }) } })
  expect((await get()).status).toBe(401)
  expect((await get('Bearer wrong')).status).toBe(401)
  expect((await get('Bearer let-me-look')).status).toBe(200)
  await service.close()
})
