import { expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { openWebhook } from '../../../lib/integrations/webhooks/secrets.ts'
import { listWebhooks } from '../../../lib/integrations/webhooks/store.ts'
import { exportArchive } from '../../../lib/storage/archive/export.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { tracesOf } from '../../fault/traces.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService } from '../../support/service.ts'
import { startWebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

/** A word that occurs in no other data. */
const WORD = 'zxcanaryq'

describeOnEachDatabase('secrets, headers and private keys of webhooks', (openUrl) => {
  it('are in no archive, log, list and table, and the key that opens them is in no archive', async () => {
    const receiver = await startWebhookReceiver()
    onTestFinished(() => receiver.close())
    const url = await openUrl()
    const lines: string[] = []
    const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
    const service = await startService(url, {
      config: { ...webhooksTo(receiver), log: { level: 'debug', requests: 'all' } },
      ports: { log: { debug: note, info: note, warn: note, error: note } },
    })
    onTestFinished(service.close)
    const { chat } = service
    const ctx = innerState(chat)
    const ada = await service.signIn('ada')
    for (const signature of ['v1', 'v1a'] as const) {
      const headers = { authorization: `Bearer ${WORD}-${signature}`, 'x-tenant': `${WORD}-tenant` }
      const { webhook } = await ada.webhooks.create({ url: receiver.url, signature, headers, types: ['*'] })
      await ada.webhooks.rotate(webhook.id)
      await ada.webhooks.test(webhook.id)
    }
    const rows = await listWebhooks(ctx.db, { all: true })
    const opened = await Promise.all(rows.map((row) => openWebhook(ctx, row, ctx.now())))
    const secrets = opened.flatMap((each) => each!.secrets)
    expect(secrets).toHaveLength(4)
    // The receiver gets the headers: that they are kept is no accident.
    expect(receiver.calls.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${WORD}-v1`,
      `Bearer ${WORD}-v1a`,
    ])
    const words = [WORD, ...secrets.map((secret) => secret.slice(secret.indexOf('_') + 1))]

    const archive: string[] = []
    await exportArchive(ctx.db, (text) => void archive.push(text))
    expect(archive.join('')).toContain(rows[0]!.id)
    const key = await ctx.db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'secret_key'`)
    const shown = JSON.stringify([
      await ada.webhooks.list(),
      await chat.webhooks.list(OPERATOR),
      await ada.webhooks.listAll({}),
      await chat.audit.list(OPERATOR, {}),
    ])
    for (const word of words) {
      expect(await tracesOf(chat, url, word)).toEqual([])
      expect(archive.join('')).not.toContain(word)
      expect(lines.join('\n')).not.toContain(word)
      expect(shown).not.toContain(word)
    }
    expect(key!.value.length).toBeGreaterThan(40)
    expect(archive.join('')).not.toContain(key!.value)
  })
})
