import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createSqliteFile, describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type ServiceOptions, startService } from '../../support/service.ts'
import { finished, folder, start } from '../process.ts'
import { asItComes, hasNginx, runDoctor, startNginx, startProxy, wrong } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

/** A service in which Ada has signed in, and its configuration for the doctor. */
async function startSetUp(url: string, options: ServiceOptions = {}) {
  const service = await startService(url, options)
  onTestFinished(() => service.close())
  const ada = await service.signIn('ada')
  const configOf = (public_url: string, more: object = {}) => ({ server: { public_url }, database: { url }, ...more })
  return { ...service, ada, configOf }
}

async function onSqlite(options: ServiceOptions = {}) {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  return startSetUp(url, options)
}

describeOnEachDatabase('the test of the event stream', (openUrl) => {
  it('receives events, is invisible to users, and leaves an entry in the audit log', LONG, async () => {
    const lines: object[] = []
    const info = (_: string, fields?: object) => void lines.push(fields ?? {})
    const log = { debug() {}, info, warn() {}, error() {} }
    const service = await startSetUp(await openUrl(), { ports: { log } })
    const { users } = await service.chat.users.list(OPERATOR)
    const findings = await runDoctor(service.configOf(service.base_url))
    expect(wrong(findings.values())).toEqual([])
    expect(findings.get('stream.flows')).toMatchObject({
      severity: 'ok',
      message: expect.stringMatching(/^Events arr/),
    })
    expect([...findings.keys()]).toEqual(expect.arrayContaining(['server.ready', 'server.clock', 'database.schema']))
    expect((await service.chat.users.list(OPERATOR)).users).toEqual(users)
    expect((await service.chat.sessions.list(OPERATOR)).sessions).toHaveLength(1)
    const rows = await innerState(service).db.all(
      sql`SELECT id FROM conversations UNION SELECT conversation_id FROM events`,
    )
    expect(rows).toEqual([])
    const probed = { act: 'doctor.probed', detail: { operator: expect.any(String) } }
    expect((await service.chat.audit.list(OPERATOR)).entries[0]).toMatchObject(probed)
    const line = expect.objectContaining({ act: 'doctor.probed', operator: expect.any(String) })
    await expect.poll(() => lines, { timeout: 30_000 }).toContainEqual(line)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('cannot be found by users, and deletes no conversation of others', LONG, async () => {
    const { chat, ada } = await startSetUp(await openUrl())
    const probe = (await chat.ops.probe(OPERATOR))!
    expect((await ada.users.search({ query: 'doctor' })).users).toEqual([])
    const [stranger] = (await chat.users.list(OPERATOR, { query: 'doctor-' })).users
    const { conversation } = await ada.conversations.create({ is_group: true })
    const conversation_id = conversation.id
    await ada.participants.add(conversation_id, { user_id: stranger!.id, role: 'member' })
    await probe.remove()
    await probe.remove()
    const { participants } = await ada.conversations.get(conversation_id)
    expect(participants.map(({ user_id }) => user_id)).toEqual([ada.id])
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it('deletes the leftovers of an interrupted one, and nothing else', LONG, async () => {
    let ahead = 0
    const now = () => Date.now() * 1000 + ahead
    const { chat, ada } = await startSetUp(await openUrl(), { ports: { now } })
    const left = (await chat.ops.probe(OPERATOR))!
    const other = (await chat.ops.probe(OPERATOR))!
    await other.remove()
    expect((await chat.users.list(OPERATOR)).users).toHaveLength(2)
    ahead = 121 * 1_000_000
    await expect(chat.auth.authenticate(new Headers({ cookie: `SESSION_ID=${left.token}` }))).rejects.toMatchObject({
      code: 'session_expired',
    })
    await (await chat.ops.probe(OPERATOR))!.remove()
    expect((await chat.users.list(OPERATOR)).users.map(({ id }) => id)).toEqual([ada.id])
    expect(await innerState(chat).db.all(sql`SELECT id FROM conversations`)).toEqual([])
    // The service also does this by itself.
    await chat.ops.probe(OPERATOR)
    expect(await chat.ops.prune()).toMatchObject({ probes: 0 })
    ahead *= 2
    expect(await chat.ops.prune()).toMatchObject({ probes: 1 })
    expect((await chat.users.list(OPERATOR)).users.map(({ id }) => id)).toEqual([ada.id])
    await expect(chat.ops.probe({ user_id: ada.id, roles: ['member'] })).rejects.toMatchObject({ code: 'forbidden' })
  })
})

it('the doctor writes nothing with --read-only, and before there is a user', LONG, async () => {
  const service = await onSqlite()
  const before = await innerState(service).db.changeToken()
  const findings = await runDoctor(service.configOf(service.base_url), { readOnly: true })
  expect(findings.get('stream')).toMatchObject({ severity: 'skipped', message: expect.stringContaining('--read-only') })
  expect(await innerState(service).db.changeToken()).toBe(before)

  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const fresh = await startService(url)
  onTestFinished(() => fresh.close())
  const early = await runDoctor({ server: { public_url: fresh.base_url }, database: { url } })
  expect(early.get('stream')?.message).toContain('not set up yet')
  expect(await fresh.chat.setup.get()).toEqual({ is_setup: false })
})

it.skipIf(!hasNginx)('the doctor detects an nginx that buffers, and one that compresses (nginx)', LONG, async () => {
  const service = await onSqlite()
  const good = await startNginx(service.base_url, '')
  expect(wrong((await runDoctor(service.configOf(good))).values())).toEqual([])
  const buffering = await startNginx(service.base_url, 'proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;')
  const found = await runDoctor(service.configOf(buffering))
  expect(wrong(found.values())).toEqual(['stream.buffered'])
  expect(found.get('stream.buffered')?.remedy).toContain('proxy_buffering off')
  const gzip = 'gzip on; gzip_types text/event-stream; gzip_min_length 0; gzip_proxied any;'
  const compressing = await startNginx(service.base_url, gzip)
  expect(wrong((await runDoctor(service.configOf(compressing))).values())).toEqual(['stream.compressed'])
})

it('the doctor deletes its user when it is interrupted', LONG, async () => {
  const service = await onSqlite()
  let ask = () => {}
  const asked = new Promise<void>((resolve) => (ask = resolve))
  const silent = await startProxy(service.base_url, async (path, chunks, response) => {
    if (!path.startsWith('/api/stream')) return asItComes(path, chunks, response)
    ask()
    for await (const chunk of chunks) void chunk
  })
  const { server, database } = service.configOf(silent)
  const env = { CHAT_SERVER__PUBLIC_URL: server.public_url, CHAT_DATABASE__URL: database.url }
  const child = start(['doctor'], { cwd: folder(), env })
  const end = finished(child)
  await asked
  child.kill('SIGINT')
  const { stderr, ...rest } = await end
  expect(rest).toEqual({ code: 130, stdout: '' })
  // Its own act, as each command logs it.
  expect(
    stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([expect.objectContaining({ level: 'info', act: 'doctor.probed' })])
  expect((await service.chat.users.list(OPERATOR)).users.map(({ id }) => id)).toEqual([service.ada.id])
})

it('the doctor reports other problems of a stream', LONG, async () => {
  const service = await onSqlite()
  const late = await startProxy(service.base_url, async (path, chunks, response) => {
    if (!path.startsWith('/api/stream')) return asItComes(path, chunks, response)
    const kept: Buffer[] = []
    let seen = ''
    for await (const chunk of chunks) {
      if (seen.includes('stream.ready')) kept.push(chunk)
      else response.write(chunk)
      seen += chunk
    }
    response.end(Buffer.concat(kept))
  })
  const silent = await startProxy(service.base_url, async (path, chunks, response) => {
    if (!path.startsWith('/api/stream')) return asItComes(path, chunks, response)
    response.flushHeaders()
    for await (const chunk of chunks) void chunk
  })
  const cut = await startProxy(service.base_url, async (path, chunks, response) => {
    if (!path.startsWith('/api/stream')) return asItComes(path, chunks, response)
    for await (const chunk of chunks) {
      response.write(chunk)
      if (chunk.includes('stream.ready')) return void response.end()
    }
  })
  const hangingUp = await startProxy(service.base_url, async (path, chunks, response) => {
    if (!path.startsWith('/api/stream')) return asItComes(path, chunks, response)
    response.destroy()
  })
  const refusing = await startProxy(service.base_url, asItComes)
  const codes = await Promise.all(
    [late, silent, cut, hangingUp].map(async (url) => wrong((await runDoctor(service.configOf(url))).values())),
  )
  expect(codes).toEqual([['stream.buffered'], ['stream.silent'], ['stream.cut'], ['stream.failed']])

  const other = await onSqlite()
  const strange = await runDoctor(other.configOf(refusing))
  expect(wrong(strange.values())).toEqual(['stream.other_database'])
  const off = await runDoctor(service.configOf(service.base_url, { features: { auth_v1: false } }))
  expect(off.get('stream')?.severity).toBe('skipped')
})

it('the doctor reports which server responds in the place of the service, or that none does', LONG, async () => {
  const service = await onSqlite()
  const port = Number(new URL(service.base_url).port)
  const at = async (public_url: string, server: object = {}) =>
    wrong((await runDoctor({ ...service.configOf(public_url), server: { public_url, ...server } })).values())
  const found = await runDoctor({ server: { port: 0 }, database: service.configOf('').database })
  expect(found.get('server')?.severity).toBe('skipped')
  const nowhere = 'http://127.0.0.1:9'
  const none = await runDoctor({ ...service.configOf(nowhere), server: { public_url: nowhere, port: 9 } })
  expect(none.get('server.not_running')).toMatchObject({ severity: 'skipped', message: expect.stringContaining('9') })
  expect(await at('http://no-such-host.invalid', { port })).toEqual(['public_url.http', 'server.unreachable'])
  expect(await at(`${service.base_url}/elsewhere`, { port })).toEqual(['server.not_ours'])

  const mute = await startProxy(
    service.base_url,
    async (_path, _chunks, response) => void response.end('hello'),
    (headers) => delete headers['content-length'],
  )
  expect(await at(mute, { port })).toEqual(['server.not_ours'])
  if (hasNginx) expect(await at(await startNginx('http://127.0.0.1:9', ''), { port })).toEqual(['server.bad_gateway'])

  service.chat.drain()
  expect(await at(service.base_url)).toEqual(['server.not_ready', 'stream.refused'])
})

it('the doctor detects which headers a proxy removes, and which it lets through', LONG, async () => {
  const service = await onSqlite()
  const bare = await startProxy(service.base_url, asItComes, (headers) => {
    delete headers['content-security-policy']
    headers.date = new Date(Date.now() + 3_600_000).toUTCString()
  })
  const found = await runDoctor(service.configOf(bare))
  expect(wrong(found.values())).toEqual(['server.clock', 'server.headers_lost'])
  expect(found.get('server.clock')?.message).toMatch(/^Its clock is (1 hour|60 minutes) ahead of/)
  const older = await startProxy(
    service.base_url,
    async (path, chunks, response) => {
      if (path !== '/openapi.json') return asItComes(path, chunks, response)
      for await (const chunk of chunks) void chunk
      response.end('{"info":{"version":"0.0.1"}}')
    },
    (headers) => delete headers['content-length'],
  )
  expect((await runDoctor(service.configOf(older))).get('server.other_version')?.severity).toBe('note')

  // A network address of this machine: not loopback, and still its own.
  const open = `http://0.0.0.0:${new URL(service.base_url).port}`
  expect(wrong((await runDoctor(service.configOf(open))).values())).toEqual(['public_url.http', 'server.metrics_open'])
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const fresh = await startService(url, { config: { metrics: { token: 'hunter2' } } })
  onTestFinished(() => fresh.close())
  const public_url = `http://0.0.0.0:${new URL(fresh.base_url).port}`
  const early = await runDoctor({ server: { public_url }, database: { url }, metrics: { token: 'hunter2' } })
  expect(wrong(early.values())).toEqual(['public_url.http', 'server.setup_open'])
})

it('the doctor reports that the database accepts no write', LONG, async () => {
  const service = await onSqlite()
  const config = service.configOf(service.base_url)
  const holder = new Sqlite(config.database.url.replace('sqlite:', ''))
  holder.exec('BEGIN IMMEDIATE')
  const found = await runDoctor(config)
  holder.exec('ROLLBACK')
  holder.close()
  expect(wrong(found.values())).toEqual(['database.not_writable'])
  expect(found.get('database.not_writable')?.message).toContain('locked')
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

it.skipIf(!hasOpenssl)('the doctor reports the problem of a certificate (openssl)', LONG, async () => {
  const service = await onSqlite()
  const cwd = folder()
  const make = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '1']
  spawnSync('openssl', [...make, '-keyout', 'key.pem', '-out', 'cert.pem'], { cwd })
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(cwd, name)))
  const server = createServer({ key, cert }, (_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const public_url = `https://localhost:${(server.address() as AddressInfo).port}`
  const port = Number(new URL(service.base_url).port)
  const config = {
    ...service.configOf(public_url),
    server: { public_url, port },
    security: { cookie: { secure: true } },
  }
  const found = await runDoctor(config)
  expect(found.get('server.unreachable')).toMatchObject({
    severity: 'error',
    message: expect.stringContaining(
      'its certificate is not signed by an authority that this machine trusts. The service itself',
    ),
  })
})
