import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkWebhooks } from '../../../cli/doctor/webhooks.ts'
import { OPERATOR, openStorage, restoreStorage } from '../../../lib/index.ts'
import { openWebhook } from '../../../lib/integrations/webhooks/secrets.ts'
import { listWebhooks } from '../../../lib/integrations/webhooks/store.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createSqliteFile, describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { codeOf, innerState, startService, type TestService } from '../../support/service.ts'

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
  const audited = await db.all<{ subject_id: string; detail: string }>(
    sql`SELECT subject_id, detail FROM audit_log WHERE detail LIKE '%"restored"%'`,
  )
  expect(audited.map(({ subject_id, detail }) => ({ subject_id, ...JSON.parse(detail) }))).toEqual(
    rows.flatMap(({ id, disabled_reason }) =>
      disabled_reason === 'restored'
        ? { subject_id: id, host: 'receiver.example', changed: ['status'], reason: 'restored' }
        : [],
    ),
  )
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
    const target = await openUrl()
    await copyAll(url, target, options)
    expect(await stateOf(target)).toEqual(expected)
  })

  it('opens the secrets and headers of webhooks with the key that is configured for both, and loses them without', async () => {
    const { url, remove } = await createSqliteFile()
    onTestFinished(remove)
    const [key, another] = [1, 2].map(() => randomBytes(32).toString('base64'))
    const start = async (database: string, secret_key: string | undefined) => {
      const service = await startService(database, {
        config: { security: { password: { bcrypt_cost: 4 }, secret_key } },
      })
      onTestFinished(service.close)
      return service
    }
    const opened = async ({ chat }: TestService) => {
      const ctx = innerState(chat)
      return Promise.all((await listWebhooks(ctx.db, { all: true })).map((row) => openWebhook(ctx, row, ctx.now())))
    }
    const original = await start(url, key)
    const headers = { authorization: 'Bearer of the receiver' }
    const { webhook, secret } = await original.chat.webhooks.create(OPERATOR, { url: URL, headers })
    const sealed = [{ secrets: [secret], headers }]
    expect(await opened(original)).toEqual(sealed)
    await original.close()

    const target = await openUrl()
    await copyAll(url, target)
    const moved = await start(target, key)
    expect(await opened(moved)).toEqual(sealed)
    expect(await moved.chat.webhooks.change(OPERATOR, webhook.id, { enabled: true })).toMatchObject({
      webhook: { status: 'active' },
    })
    await moved.close()

    const stranger = await start(target, another)
    expect(await opened(stranger)).toEqual([undefined])
    expect(await stranger.chat.ops.secretState(OPERATOR)).toMatchObject({ values: 2, lost: 2 })
    await stranger.chat.webhooks.change(OPERATOR, webhook.id, { enabled: false })
    const enable = () => stranger.chat.webhooks.change(OPERATOR, webhook.id, { enabled: true })
    expect(await codeOf(enable())).toBe('conflict')
    const { secret: renewed } = await stranger.chat.webhooks.rotate(OPERATOR, webhook.id)
    // A lost header would be missing in each call.
    expect(await codeOf(enable())).toBe('conflict')
    await stranger.chat.webhooks.change(OPERATOR, webhook.id, { headers })
    await enable()
    expect(await opened(stranger)).toEqual([{ secrets: [renewed], headers }])
  })
})

/** Exports all of a database, and imports it into an empty one. */
async function copyAll(from: string, to: string, options: { enable_webhooks?: boolean } = {}): Promise<void> {
  const source = await openStorage({ database: from })
  let text = ''
  await source.export((lines) => {
    text += lines
  })
  await source.close()
  const storage = await openStorage({ database: to })
  await storage.migrate()
  async function* each() {
    yield* text.trimEnd().split('\n')
  }
  await storage.import(each(), undefined, options)
  await storage.close()
}

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
