import { expect, it, onTestFinished } from 'vitest'
import { createWebhookEngine } from '../../../lib/integrations/webhooks/engine.ts'
import { insertWebhook } from '../../../lib/integrations/webhooks/store.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { recorded } from '../../support/recorded.ts'
import { innerState, startService, times } from '../../support/service.ts'
import { webhookRow } from '../../support/webhook-rows.ts'

const COUNT = 1_000

describeOnEachDatabase('a thousand webhooks without events', (openUrl) => {
  it('take one statement a second, with posts that do not concern them and without', async () => {
    const statements: string[] = []
    const service = await startService(await openUrl(), {
      wrap: recorded(({ text }) => /webhook/.test(text) && statements.push(text)),
    })
    onTestFinished(() => service.close())
    const ctx = innerState(service)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({ title: 'one' })
    await ada.messages.postRoot(conversation_id, { content: 'before' })
    const { position } = await ada.feed.read({})
    const types = '["pin.changed"]'
    await ctx.db.write(async (tx) => {
      for (const n of times(COUNT, (n) => n))
        await insertWebhook(tx, webhookRow({ id: `w${n}`, user_id: ada.id, types, position }))
    })
    // Its ticks come at any time; those of another engine when the test wants them.
    for (const node of service.nodes) {
      innerState(node).webhooks.drain()
      await innerState(node).webhooks.close()
    }
    const write: typeof ctx.write = (work, options) => {
      statements.push('a transaction')
      return ctx.write(work, options)
    }
    const engine = createWebhookEngine({ ...ctx, write })
    onTestFinished(() => engine.close())
    await engine.tick()
    for (const posts of [0, 3]) {
      statements.length = 0
      for (const n of times(60, (n) => n)) {
        if (n < posts) await ada.messages.postRoot(conversation_id, { content: `${n}` })
        await engine.tick()
      }
      expect(statements.length).toBeGreaterThan(0)
      // And one a minute that moves their positions.
      expect(statements.length).toBeLessThanOrEqual(61)
    }
    const rows = await ctx.db.all<{ position: string; writer: string | null }>(
      sql`SELECT DISTINCT position, writer FROM webhooks`,
    )
    // All stand at one place, behind the posts, and none has a lease.
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ writer: null })
    expect(rows[0]!.position).not.toBe(position)
  })
})
