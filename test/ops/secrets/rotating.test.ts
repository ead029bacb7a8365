import { randomBytes } from 'node:crypto'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { checkEncrypted } from '../../../cli/doctor/secrets.ts'
import { valuesKey } from '../../../lib/cluster/details.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { DAY } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { openWebhook } from '../../../lib/integrations/webhooks/secrets.ts'
import { listWebhooks } from '../../../lib/integrations/webhooks/store.ts'
import { rotate as runRotation } from '../../../lib/ops/secrets/rotating.ts'
import type { SecretState } from '../../../lib/ops/secrets/schema.ts'
import { secretId } from '../../../lib/storage/keyring.ts'
import { insertNextSecret, readSecret, readSecrets, readValuesKey } from '../../../lib/storage/secret.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, startService, type TestService, times } from '../../support/service.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

const [FIRST, SECOND] = [1, 2].map(() => randomBytes(32).toString('base64')) as [string, string]

describeOnEachDatabase('a key of the service is replaced', (openUrl) => {
  let url: string
  let ahead = 0
  beforeEach(async () => {
    url = await openUrl()
    ahead = 0
  })

  async function start(security: object = {}): Promise<TestService> {
    const service = await startService(url, {
      config: { security: { password: { bcrypt_cost: 4 }, ...security } },
      ports: { now: () => Date.now() * 1000 + ahead },
    })
    onTestFinished(service.close)
    return service
  }

  /** Three webhooks of the operator, with headers; the secret of one was replaced a moment ago. */
  async function fill({ chat }: TestService) {
    for (const n of times(3, (n) => n)) {
      const headers = { 'x-tenant': `tenant ${n}` }
      const { webhook } = await chat.webhooks.create(OPERATOR, { url: 'https://receiver.example/events', headers })
      if (n === 0) await chat.webhooks.rotate(OPERATOR, webhook.id)
    }
  }

  /** What the webhooks have sealed, opened by a service. */
  async function opened({ chat }: TestService) {
    const ctx = innerState(chat)
    const rows = await listWebhooks(ctx.db, { all: true })
    return Promise.all(rows.map((row) => openWebhook(ctx, row, Date.now() * 1000)))
  }

  const state = ({ chat }: TestService) => chat.ops.secretState(OPERATOR)
  const rotate = ({ chat }: TestService) => chat.ops.rotateSecret(OPERATOR)
  /** Has the task run that waits, whenever it is due. */
  async function work({ chat }: TestService): Promise<void> {
    const { db, tasks } = innerState(chat)
    await db.run(sql`UPDATE tasks SET due_at = 0 WHERE kind = 'secret.rotate'`)
    await tasks.settle()
  }
  /** Has the task run once that waits, whenever it is due. */
  async function turn({ chat }: TestService): Promise<void> {
    const { db, tasks } = innerState(chat)
    const { id } = (await db.get<{ id: string }>(sql`SELECT id FROM tasks WHERE kind = 'secret.rotate'`))!
    await db.run(sql`UPDATE tasks SET due_at = 0 WHERE id = ${id}`)
    tasks.wake()
    const isDue = () => db.get(sql`SELECT 1 AS due FROM tasks WHERE id = ${id} AND (due_at = 0 OR writer IS NOT NULL)`)
    await vi.waitFor(async () => expect(await isDue()).toBeUndefined(), PATIENT)
  }
  /** The state, once it is so. */
  const until = (service: TestService, isSo: (now: SecretState) => boolean) =>
    vi.waitFor(async () => {
      const now = await state(service)
      expect(isSo(now)).toBe(true)
      return now
    }, PATIENT)
  const turnOf = ({ detail }: { detail: string }) => ({
    ...{ key: '', detail: JSON.parse(detail), signal: new AbortController().signal, isOver: () => false },
  })
  const findings = async ({ chat }: TestService) =>
    (await checkEncrypted(innerState(chat).config, innerState(chat).db)).map(({ message }) => message)

  it('by a configured one: all is encrypted with it, and nothing needs the former one', async () => {
    const before = await start()
    await fill(before)
    const secrets = await opened(before)
    expect(await state(before)).toEqual({ values: 7, old: 0, lost: 0, in_database: true, rotating: false })
    await before.close()
    const service = await start({ secret_key: FIRST })
    expect(await state(service)).toMatchObject({ values: 7, old: 7, in_database: false, rotating: false })
    expect(await rotate(service)).toMatchObject({ rotating: true })
    await work(service)
    expect(await state(service)).toMatchObject({ values: 7, old: 0, lost: 0, rotating: false })
    expect(await opened(service)).toEqual(secrets)
    await service.close()
    // The next one, by the configuration alone; the row of the database is not needed.
    const next = await start({ secret_key: SECOND, previous_secret_keys: [FIRST] })
    await innerState(next).db.run(sql`DELETE FROM meta WHERE name = 'secret_key'`)
    await rotate(next)
    await work(next)
    await next.close()
    const last = await start({ secret_key: SECOND })
    expect(await state(last)).toMatchObject({ values: 7, old: 0, lost: 0 })
    expect(await opened(last)).toEqual(secrets)
  })

  it('by one of the database: processes know it before it is used, and the former one goes after a day', async () => {
    const one = await start()
    const two = await start()
    await fill(one)
    const secrets = await opened(one)
    const sign = ({ chat }: TestService) => innerState(chat).keyring.signing('test')
    const [former] = await sign(one)
    const first = await readSecret(innerState(one).db)
    await rotate(one)
    await rotate(two)
    expect((await readSecrets(innerState(one).db)).next).toHaveLength(32)
    expect((await sign(one))[0]).toEqual(former)
    // After two minutes all processes have read the keys again.
    ahead += 120_000_000
    expect((await sign(two)).slice(1)).toHaveLength(1)
    await work(one)
    expect(await readSecret(innerState(one).db)).not.toEqual(first)
    expect(await readSecrets(innerState(one).db)).toMatchObject({ former: first })
    expect(await readSecrets(innerState(one).db)).not.toHaveProperty('next')
    // Nodes that have started before compare their configurations as those that start now.
    expect(Buffer.from((await readValuesKey(innerState(one).db))!)).toEqual(Buffer.from(valuesKey(first!)))
    // The other process still signs with the former key, which both take; what it does not know yet, it reads.
    const [present, taken] = await sign(one)
    expect([present, taken]).toEqual([...(await sign(two))].reverse())
    expect(taken).toEqual(former)
    expect(await opened(two)).toEqual(secrets)
    expect(await state(one)).toMatchObject({ values: 7, old: 0, rotating: true })
    // What that one seals meanwhile is found at the end.
    await two.chat.webhooks.create(OPERATOR, { url: 'https://receiver.example/late' })
    ahead += DAY + 120_000_000
    await work(one)
    expect(Object.keys(await readSecrets(innerState(one).db))).toEqual(['present'])
    expect(await state(one)).toMatchObject({ values: 7, old: 0, lost: 0, rotating: false })
    expect(await sign(one)).toHaveLength(1)
    expect((await opened(two)).slice(0, 3).map((each) => each?.headers)).toEqual(secrets.map((each) => each?.headers))
    await rotate(one)
    expect((await readSecrets(innerState(one).db)).next).toHaveLength(32)
  })

  it('by a configured one that the service does not have yet: it waits for that, for an hour', async () => {
    const service = await start()
    await fill(service)
    const command = await start({ secret_key: FIRST })
    await innerState(command).tasks.stop()
    expect(await rotate(command)).toMatchObject({ old: 7, rotating: true })
    const { db, settings } = innerState(service)
    const task = await db.get<{ detail: string }>(sql`SELECT detail FROM tasks WHERE kind = 'secret.rotate'`)
    const outcome = await runRotation(innerState(service), turnOf(task!))
    expect(outcome).toMatchObject({
      done: false,
      detail: { ...JSON.parse(task!.detail), waiting_until: expect.any(Number) },
    })
    const { delay_seconds } = outcome as { delay_seconds: number }
    expect(Number.isInteger(delay_seconds)).toBe(true)
    // Another process is the first sometimes: each looks every three seconds.
    expect(delay_seconds).toBeGreaterThanOrEqual(30)
    expect(delay_seconds).toBeLessThanOrEqual(60)
    const waiting = await until(command, ({ waiting_until }) => waiting_until !== undefined)
    expect(waiting).toMatchObject({ old: 7, rotating: true })
    expect(Date.parse(waiting.waiting_until!) - Date.now()).toBeGreaterThan(3_500_000)
    const { security, ...rest } = settings.current()
    await service.chat.reload(parseConfig({ ...rest, security: { ...security, secret_key: FIRST } } as never))
    await work(service)
    const done = await state(command)
    expect(done).toMatchObject({ values: 7, old: 0, lost: 0, rotating: false })
    expect(done).not.toHaveProperty('waiting_until')
  })

  it('not by a configured one that no process gets for an hour: all stays as it was, and it can be asked again', async () => {
    const service = await start()
    await fill(service)
    const secrets = await opened(service)
    const { db, log, settings } = innerState(service)
    const said = vi.spyOn(log, 'error')
    onTestFinished(() => said.mockRestore())
    const command = await start({ secret_key: FIRST })
    await innerState(command).tasks.stop()
    await rotate(command)
    await until(command, ({ waiting_until }) => waiting_until !== undefined)
    const keys = await readSecrets(db)
    ahead += 3_599_000_000
    await turn(service)
    expect(await state(command)).toMatchObject({ old: 7, rotating: true })
    ahead += 2_000_000
    await turn(service)
    expect(await until(command, ({ rotating }) => !rotating)).toMatchObject({ values: 7, old: 7, lost: 0 })
    expect(said.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('was not replaced')])
    expect(await readSecrets(db)).toEqual(keys)
    expect(await opened(service)).toEqual(secrets)
    // Asked again, it waits for an hour again, and goes on with the key.
    await rotate(command)
    await until(command, ({ waiting_until }) => waiting_until !== undefined)
    const { security, ...rest } = settings.current()
    await service.chat.reload(parseConfig({ ...rest, security: { ...security, secret_key: FIRST } } as never))
    await work(service)
    expect(await state(command)).toMatchObject({ values: 7, old: 0, lost: 0, rotating: false })
    expect(await opened(service)).toEqual(secrets)
  })

  it('by a configured one that is taken away half done: it is waited for until it is back', async () => {
    const service = await start()
    await fill(service)
    const secrets = await opened(service)
    const { log, settings } = innerState(service)
    const said = vi.spyOn(log, 'error')
    onTestFinished(() => said.mockRestore())
    const command = await start({ secret_key: FIRST })
    await innerState(command).tasks.stop()
    // A node with the key has sealed some of it, and has the former configuration again.
    await command.chat.webhooks.create(OPERATOR, { url: 'https://receiver.example/half' })
    await rotate(command)
    await until(command, ({ waiting_until }) => waiting_until !== undefined)
    ahead += 3_601_000_000
    await turn(service)
    expect(await state(command)).toMatchObject({ old: 7, rotating: true })
    expect(said.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('replaced in part')])
    await turn(service)
    expect(said).toHaveBeenCalledOnce()
    const { security, ...rest } = settings.current()
    await service.chat.reload(parseConfig({ ...rest, security: { ...security, secret_key: FIRST } } as never))
    await work(service)
    expect(await state(command)).toMatchObject({ old: 0, lost: 0, rotating: false })
    expect(await opened(service)).toEqual(expect.arrayContaining(secrets))
  })

  it('by a configured one: of a next one of the database nothing remains', async () => {
    const service = await start({ secret_key: FIRST })
    const { db } = innerState(service)
    await db.write(insertNextSecret)
    const { next } = await readSecrets(db)
    const note = sql`SELECT value FROM meta WHERE name = ${`secret_retired:${secretId(next!)}`}`
    await state(service)
    expect(await db.get(note)).toBeDefined()
    await rotate(service)
    await work(service)
    expect([await readSecrets(db), await db.get(note)]).toEqual([{}, undefined])
  })

  it('and what no key opens is counted, left as it is, and reported', async () => {
    const before = await start({ secret_key: FIRST })
    await fill(before)
    await before.close()
    const service = await start({ secret_key: SECOND })
    const said = vi.spyOn(innerState(service).log, 'info')
    onTestFinished(() => said.mockRestore())
    expect(await findings(service)).toEqual(['No key of the service opens 7 encrypted values.'])
    expect(await rotate(service)).toMatchObject({ values: 7, old: 0, lost: 7 })
    await work(service)
    expect(await state(service)).toMatchObject({ values: 7, lost: 7, rotating: false })
    expect(said.mock.calls.map(([text]) => text).join()).not.toContain('needs a former key')
    await service.close()
    const again = await start({ secret_key: SECOND, previous_secret_keys: [FIRST] })
    expect(await findings(again)).toEqual([])
    await rotate(again)
    await work(again)
    expect(await state(again)).toMatchObject({ values: 7, old: 0, lost: 0 })
  })

  it('only by the operator', async () => {
    const service = await start()
    const root = await service.signIn('root')
    const actor = await service.chat.users.actor(root.id)
    expect(await codeOf(service.chat.ops.rotateSecret(actor))).toBe('forbidden')
    expect(await codeOf(service.chat.ops.secretState(actor))).toBe('forbidden')
  })
})
