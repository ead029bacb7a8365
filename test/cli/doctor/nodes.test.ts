import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { expect, it, onTestFinished, vi } from 'vitest'
import { judgeHeartbeat } from '../../../cli/doctor/proxy.ts'
import { checkSettings } from '../../../cli/doctor/settings.ts'
import { toDetails, valuesKey } from '../../../lib/cluster/details.ts'
import { fingerprintsOf, OWN_KEYS } from '../../../lib/config/fingerprints.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { configKeys, findKey } from '../../../lib/config/reference.ts'
import { readSecret } from '../../../lib/storage/secret.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { createSqliteFile, describeOnEachDatabase } from '../../support/databases.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { innerState, startService } from '../../support/service.ts'
import { hasNginx, runDoctor, startNginx } from '../run-checks.ts'

const LONG = { timeout: 120_000 }
const QUIET = { sse: { heartbeat_seconds: 1 } }

/** What `startService` sets beside what a test gives. */
const configOf = (service: object) =>
  structuredClone<object>(innerState(service).settings.current()) as Record<string, object>

async function start(url: string, config: object = {}) {
  const service = await startService(url, { config })
  onTestFinished(() => service.close())
  return service
}

describeOnEachDatabase('the doctor asks the running nodes', (openUrl) => {
  it('reports the running nodes by host, process and port, and no difference', LONG, async () => {
    const url = await openUrl()
    const service = await start(url, QUIET)
    await innerState(service).cluster.details.listensOn(4711)
    const found = await runDoctor({ ...configOf(service), database: { url } }, { readOnly: true })
    expect(found.get('nodes.running')?.message).toContain(
      `1 node runs: ${hostname()} (process ${process.pid}, port 4711`,
    )
    expect([...found.keys()].filter((code) => /^nodes\./.test(code))).toEqual(['nodes.running'])
    const ada = await service.signIn('ada')
    const { nodes } = await ada.nodes.list()
    expect(nodes).toMatchObject([{ host: hostname(), pid: process.pid, port: 4711 }])
    expect(JSON.stringify(nodes)).not.toContain('values')
  })

  it('reports what was changed and not reloaded, another storage and another address', LONG, async () => {
    const url = await openUrl()
    const service = await start(url, { ...QUIET, attachments: await filesInFolder() })
    const config: Record<string, object> = { ...configOf(service), database: { url } }
    const doctor = async (change: object) => {
      const found = await runDoctor({ ...config, ...change }, { readOnly: true })
      return Object.fromEntries([...found].filter(([code]) => /^nodes\.(?!running)/.test(code)))
    }
    expect(await doctor({})).toEqual({})
    expect(await doctor({ metrics: { token: 'new' }, log: { level: 'debug' } })).toMatchObject({
      'nodes.not_reloaded': {
        severity: 'warning',
        message: expect.stringMatching(/metrics\.token, log\.level than this command\. The file was changed and not/),
        remedy: 'Run "chat-server reload".',
      },
    })
    await service.chat.reload(parseConfig({ ...config, metrics: { token: 'new' } } as never))
    expect(await doctor({ metrics: { token: 'new' } })).toEqual({})
    await service.chat.reload(parseConfig(config as never))
    const restart = await doctor({ session: { ...config.session, idle_seconds: 600 } })
    expect(restart['nodes.not_reloaded']?.remedy).toContain('Restart it: session.idle_seconds cannot be reloaded')
    expect(await doctor({ attachments: { ...config.attachments, storage: 'fs:/elsewhere' } })).toMatchObject({
      'nodes.other_storage': { severity: 'warning' },
    })
    expect(await doctor({ server: { public_url: 'https://other.example.org' } })).toMatchObject({
      'nodes.other_public_url': { severity: 'warning' },
    })
  })

  it('finds no difference either where the key of the service is configured', LONG, async () => {
    const url = await openUrl()
    // The row of the database is a former key then.
    await startService(url).then((service) => service.close())
    const security = { password: { bcrypt_cost: 4 }, secret_key: randomBytes(32).toString('base64') }
    const service = await start(url, { ...QUIET, security })
    const config = { ...configOf(service), database: { url } }
    const found = await runDoctor(config, { readOnly: true })
    expect([...found.keys()].filter((code) => /^nodes\./.test(code))).toEqual(['nodes.running'])
    const other = await runDoctor({ ...config, log: { level: 'debug' } }, { readOnly: true })
    expect(other.get('nodes.not_reloaded')?.message).toContain('other values of log.level than this command')
  })

  it('reports nodes that differ, and two without a delay of their drain', LONG, async () => {
    const url = await openUrl()
    const here = await start(url, QUIET)
    const there = await start(url, { ...QUIET, limits: { message_bytes: 1000 } })
    await innerState(here).cluster.details.listensOn(1)
    await innerState(there).cluster.details.listensOn(2)
    const config = { ...configOf(here), database: { url } }
    const found = await runDoctor(config, { readOnly: true })
    expect(found.get('nodes.differ')).toMatchObject({
      severity: 'warning',
      message: expect.stringContaining('have other values of limits.message_bytes.'),
    })
    expect(found.get('nodes.no_drain')).toMatchObject({ severity: 'warning' })
    expect(found.get('nodes.running')?.message).toContain('2 nodes run')
  })

  it('a row has 64 bits of a value, 12 of a secret, and nothing of the value itself', LONG, async () => {
    const url = await openUrl()
    const service = await start(url, {
      ...QUIET,
      metrics: { token: 'canary-token', previous_tokens: ['canary-former'] },
    })
    const { cluster, db } = innerState(service)
    const row = await cluster.db.get<{ details: string }>(sql`SELECT details FROM nodes`)
    const { values } = toDetails(row!.details)!
    expect(row!.details).not.toContain('canary')
    for (const [key, digest] of Object.entries(values))
      expect([key, digest]).toEqual([
        key,
        expect.stringMatching(findKey(key)!.secret ? /^[0-9a-f]{3}$/ : /^[0-9a-f]{16}$/),
      ])
    expect(Object.keys(values)).toEqual(
      expect.arrayContaining(['metrics.token', 'metrics.previous_tokens', 'log.level']),
    )
    // Another database has another key.
    const config = innerState(service).settings.current()
    const own = fingerprintsOf(config, valuesKey((await readSecret(db))!))
    expect([own, fingerprintsOf(config, valuesKey(Buffer.alloc(32)))['log.level'] === own['log.level']]).toEqual([
      values,
      false,
    ])
  })

  it('a node whose row was removed writes its details again', LONG, async () => {
    const service = await start(await openUrl(), { ...QUIET, cluster: { beat_seconds: 1 } })
    const { cluster } = innerState(service)
    await cluster.db.run(sql`DELETE FROM nodes`)
    const details = async () =>
      (await cluster.db.get<{ details: string | null }>(sql`SELECT details FROM nodes`))?.details
    await vi.waitUntil(async () => toDetails(await details()) !== undefined, { timeout: 60_000 })
  })
})

it('every key has a digest, or is one that each node may have of its own', () => {
  const names = configKeys().map(({ key }) => key)
  expect(OWN_KEYS.filter((key) => !names.includes(key))).toEqual([])
  const google = { client_id: 'id', client_secret: 'secret', redirect_uri: 'http://localhost/x' }
  const given = Object.keys(fingerprintsOf(parseConfig({ oauth: { google } }), Buffer.alloc(32)))
  const withDefault = configKeys().filter(({ default: value, key }) => value !== undefined && !key.includes('<'))
  expect(withDefault.map(({ key }) => key).filter((key) => !given.includes(key))).toEqual([])
  expect(given).toEqual(expect.arrayContaining(['oauth.google.client_secret']))
})

it.each([
  ['session.short_idle', { session: { idle_seconds: 60 } }, { session: { idle_seconds: 300 } }],
  ['log.quiet', { log: { level: 'error' } }, { log: { level: 'warn' } }],
  ['audit.short', { audit: { retention_days: 1 } }, { audit: { retention_days: false } }],
  [
    'oauth.open_to_all',
    { oauth: { google: google() } },
    { oauth: { google: google({ allowed_domains: ['example.org'] }) } },
  ],
])('%s is a warning', (code, wrong, right) => {
  expect(checkSettings(parseConfig(wrong as never))).toMatchObject([{ code, severity: 'warning' }])
  expect(checkSettings(parseConfig(right as never))).toEqual([])
})

function google(more: object = {}) {
  return { client_id: 'id', client_secret: 'secret', redirect_uri: 'https://chat.example.org/callback', ...more }
}

it('a heartbeat above 60 s is a warning where no proxy is measured', async () => {
  const severity = (heartbeat_seconds: number) =>
    judgeHeartbeat(parseConfig({ sse: { heartbeat_seconds } }))[0]?.severity
  expect([severity(60), severity(61)]).toEqual([undefined, 'warning'])
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const found = await runDoctor({ database: { url }, server: { port: 1 }, sse: { heartbeat_seconds: 61 } })
  expect(found.get('stream.slow_heartbeat')?.severity ?? 'none').toBe('none')
  await startService(url).then((service) => service.close())
  const unreached = await runDoctor({ database: { url }, server: { port: 1 }, sse: { heartbeat_seconds: 61 } })
  expect(unreached.get('stream.slow_heartbeat')?.severity).toBe('warning')
})

it.skipIf(!hasNginx)('a body limit and a read timeout of a proxy are measured (nginx)', LONG, async () => {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const service = await start(url, { sse: { heartbeat_seconds: 3 }, attachments: await filesInFolder() })
  await service.signIn('ada')
  const config: Record<string, object> = { ...configOf(service), database: { url } }
  const doctor = async (more: string) =>
    runDoctor({ ...config, server: { public_url: await startNginx(service.base_url, more) } })
  const good = await doctor('client_max_body_size 5m;')
  expect([good.get('proxy.body')?.severity, good.get('stream.kept')?.severity]).toEqual(['ok', 'ok'])
  const bad = await doctor('client_max_body_size 1m; proxy_read_timeout 1s;')
  expect(bad.get('proxy.body_limit')).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('status 413'),
  })
  expect(bad.get('stream.read_timeout')).toMatchObject({ severity: 'warning' })
  // Nothing of the test remains.
  const { db } = innerState(service)
  for (const table of ['conversations', 'attachments'])
    expect(await db.all(statement(`SELECT id FROM ${table}`))).toEqual([])
  expect((await service.chat.users.list({ user_id: '', roles: ['admin'] })).users).toHaveLength(1)
})
