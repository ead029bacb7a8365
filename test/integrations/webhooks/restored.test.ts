import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkWebhooks } from '../../../cli/doctor/webhooks.ts'
import { OPERATOR, openStorage, restoreStorage } from '../../../lib/index.ts'
import { listWebhooks } from '../../../lib/integrations/webhooks/store.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createSqliteFile, describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { innerState, startService } from '../../support/service.ts'

const URL = 'https://receiver.example/events'

/** A database with an active and a disabled webhook, and something that waits to be sent again. */
async function fill(url: string): Promise<void> {
  const service = await startService(url)
  const { webhook } = await service.chat.webhooks.create(OPERATOR, { url: URL })
  const { webhook: other } = await service.chat.webhooks.create(OPERATOR, { url: URL })
  await service.chat.webhooks.change(OPERATOR, other.id, { enabled: false })
  await innerState(service).db.write((tx) =>
    tx.run(
      sql`INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, event_number, position, status, next_at, at)
            VALUES ('d', ${webhook.id}, 'evt_1', 'message.new', 1, '', 'pending', 9000000000000000, 1)`,
    ),
  )
  await service.close()
}

/** What the webhooks of a database are, and how many deliveries wait. */
async function stateOf(url: string) {
  const service = await startService(url, { config: { server: { public_url: 'https://chat.example' } } })
  const { db, config } = innerState(service)
  const rows = await listWebhooks(db, { all: true })
  const row = await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM webhook_deliveries`)
  const findings = (await checkWebhooks(config, db, 1000)).map(({ code }) => code)
  await service.close()
  return { states: rows.map(({ disabled_reason }) => disabled_reason), waiting: Number(row!.count), findings }
}

const DISABLED = { states: ['restored', 'user'], waiting: 0, findings: ['webhooks.restored'] }

describeOnEachEmptyDatabase('an imported database', (openUrl) => {
  it.each([
    [{}, DISABLED],
    [{ enable_webhooks: true }, { states: [null, 'user'], waiting: 0, findings: [] }],
  ])('calls no webhook unless it is told so: %o', async (options, expected) => {
    const { url, remove } = await createSqliteFile()
    onTestFinished(remove)
    await fill(url)
    const source = await openStorage({ database: url })
    let text = ''
    await source.export((lines) => {
      text += lines
    })
    await source.close()
    const target = await openUrl()
    const storage = await openStorage({ database: target })
    await storage.migrate()
    async function* each() {
      yield* text.trimEnd().split('\n')
    }
    await storage.import(each(), undefined, options)
    await storage.close()
    expect(await stateOf(target)).toEqual(expected)
  })
})

it.each([
  [{}, DISABLED, 1],
  [{ enable_webhooks: true }, { states: [null, 'user'], waiting: 1, findings: [] }, 0],
])('a restored database calls no webhook unless it is told so: %o', async (options, expected, webhooks) => {
  const folder = mkdtempSync(join(tmpdir(), 'chat-webhooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [url, copy] = [`sqlite:${join(folder, 'chat.db')}`, join(folder, 'copy.db')]
  await fill(url)
  const storage = await openStorage({ database: url })
  await storage.backup(copy)
  await storage.close()
  const restored = `sqlite:${join(folder, 'restored.db')}`
  expect(await restoreStorage(restored, copy, options)).toEqual({ mails: 0, webhooks, answers: 0, approvals: 0 })
  expect(await stateOf(restored)).toEqual(expected)
  // Started without a restore, too.
  expect(await stateOf(`sqlite:${copy}`)).toEqual(DISABLED)
})

describeOnEachEmptyDatabase('a process that has not used the key of the service yet', (openUrl) => {
  it('rotates a secret', async () => {
    const url = await openUrl()
    await fill(url)
    const service = await startService(url)
    const [webhook] = (await service.chat.webhooks.list(OPERATOR)).webhooks
    expect(await service.chat.webhooks.rotate(OPERATOR, webhook!.id)).toEqual({ secret: expect.any(String) })
    await service.close()
  })
})
