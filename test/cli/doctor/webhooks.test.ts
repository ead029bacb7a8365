import { expect, it, onTestFinished } from 'vitest'
import { checkWebhooks } from '../../../cli/doctor/webhooks.ts'
import { parseConfig } from '../../../lib/index.ts'
import { insertWebhook } from '../../../lib/integrations/webhooks/store.ts'
import { storeDelivery } from '../../../lib/integrations/webhooks/store-deliveries.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService } from '../../support/service.ts'
import { webhookRow } from '../../support/webhook-rows.ts'

const HOUR = 3_600_000_000
const NOW = Date.now() * 1000

describeOnEachDatabase('doctor on webhooks', (openUrl) => {
  it('reports those that were disabled, and events that wait for too long', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const { db } = innerState(service)
    const codes = async (config: object = {}) => {
      const parsed = parseConfig({
        webhooks: { enabled: true },
        server: { public_url: 'https://chat.example' },
        ...config,
      })
      return (await checkWebhooks(parsed, db, NOW)).map(({ code }) => code)
    }
    const waiting = (webhook_id: string, at: number) =>
      db.write((tx) =>
        storeDelivery(tx, {
          id: `${webhook_id}${at}`,
          webhook_id,
          event_id: `evt_${at}`,
          type: 'message.new',
          conversation_id: null,
          event_number: 1,
          position: '',
          status: 'pending',
          attempts: '[]',
          attempt_count: 0,
          next_at: NOW + HOUR,
          at,
        }),
      )
    await db.write((tx) => insertWebhook(tx, webhookRow({ id: 'a' })))
    await waiting('a', NOW - HOUR + 1)
    expect(await codes()).toEqual([])
    expect(await codes({ server: {} })).toEqual(['webhooks.no_public_url'])
    expect(await codes({ webhooks: { enabled: false } })).toEqual([])
    await waiting('a', NOW - HOUR - 1)
    expect(await codes()).toEqual(['webhooks.late'])
    const disabled = { status: 'disabled', disabled_at: 1 } as const
    await db.write(async (tx) => {
      await insertWebhook(tx, webhookRow({ id: 'b', ...disabled, disabled_reason: 'failing' }))
      await insertWebhook(tx, webhookRow({ id: 'c', ...disabled, disabled_reason: 'user' }))
    })
    await waiting('b', 1)
    expect(await codes()).toEqual(['webhooks.failing', 'webhooks.late'])
  })
})
