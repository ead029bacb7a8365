import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { SignJWT } from 'jose'
import { Client } from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { ToolCall } from '../../lib/assistant/tools/definition.ts'
import { openTarget } from '../../lib/backups/backups.ts'
import { pack, unpack } from '../../lib/backups/packing.ts'
import { type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { configKeys } from '../../lib/config/reference.ts'
import { openFileStore } from '../../lib/files/file-store.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createBrowser, PUBLIC_URL } from '../accounts/oauth/browser.ts'
import { returnFrom, startPlain } from '../accounts/oauth/plain.ts'
import { bytesFor, PNG, startWithFiles, upload } from '../chat/attachments/files.ts'
import { createSqliteFile, describeOnEachDatabase } from '../support/databases.ts'
import { MEMORY } from '../support/memory.ts'
import { startModelServer } from '../support/model-server.ts'
import { textOf } from '../support/pages.ts'
import { isInstalled, startCluster } from '../support/postgres.ts'
import { startBucket } from '../support/s3.ts'
import { innerState, PASSWORD, startService } from '../support/service.ts'
import { startSmtp } from '../support/smtp-server.ts'
import { signInByHand } from '../support/stream.ts'

const LONG = { timeout: 60_000 }

/** A service with `config`, on which ada is signed in; `isSignedIn` asks with her cookie. */
async function started(config: object = {}, url?: string) {
  const database = url === undefined ? await createSqliteFile() : { url, remove: async () => {} }
  const start = async (config: object) => {
    const service = await startService(database.url, { config })
    onTestFinished(() => service.close())
    return service
  }
  onTestFinished(() => database.remove())
  const first = await start(config)
  const ada = await first.signIn('ada')
  const headers = await signInByHand(first.base_url, ada.email, PASSWORD)
  const isSignedIn = async ({ base_url } = first) =>
    (await fetch(`${base_url}/api/auth/me`, { headers })).status === 200
  const ask = (path: string, token: string, { base_url } = first) =>
    fetch(base_url + path, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)
  const reload = (config: object) => first.chat.reload(parseConfig(config as ConfigInput))
  return { service: first, ada, start, isSignedIn, ask, reload }
}

async function post(url: string, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

const setUp = (base_url: string, setup_code: string) =>
  post(`${base_url}/api/setup`, { email: 'eve@example.org', password: PASSWORD, setup_code })
const forgot = (base_url: string, email: string) => post(`${base_url}/api/auth/forgot`, { email })

async function read(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  return (await buffer(bytes)).toString()
}

async function* textBytes(text: string) {
  yield Buffer.from(text)
}

/** Rotates a secret as the page says. Each ends with ada signed in. */
const TRIALS: Record<string, () => Promise<boolean>> = {
  async 'database.url'() {
    const folder = await mkdtemp(join(tmpdir(), 'chat-hba-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'hba'), 'local all postgres trust\nlocal all chat scram-sha-256\n', { mode: 0o644 })
    await chmod(folder, 0o755)
    const cluster = (await startCluster(MEMORY, { hba_file: join(folder, 'hba') }))!
    onTestFinished(() => cluster.stop())
    const admin = new Client({ connectionString: cluster.url })
    await admin.connect()
    await admin.query("CREATE ROLE chat LOGIN PASSWORD 'old'")
    await admin.query('CREATE DATABASE chat OWNER chat')
    const urlOf = (password: string) => cluster.databaseUrl('chat').replace('//postgres@', `//chat:${password}@`)
    const { isSignedIn } = await started({}, urlOf('old'))
    await admin.query("ALTER ROLE chat PASSWORD 'new'")
    await admin.end()
    const refused = new Client({ connectionString: urlOf('old') })
    await expect(refused.connect()).rejects.toThrow('password authentication failed')
    const second = await startService(urlOf('new'))
    onTestFinished(() => second.close())
    return isSignedIn(second)
  },

  async 'metrics.token'() {
    const { ask, reload, isSignedIn } = await started({ metrics: { token: 'old' } })
    const both = { metrics: { token: 'new', previous_tokens: ['older', 'old'] } }
    expect((await reload(both)).changed).toEqual(expect.arrayContaining(['metrics.token', 'metrics.previous_tokens']))
    const statuses = (tokens: string[]) => Promise.all(tokens.map((token) => ask('/metrics', token)))
    expect(await statuses(['new', 'old', 'older', 'wrong', ''])).toEqual([200, 200, 200, 401, 401])
    await reload({ metrics: { token: 'new' } })
    expect(await statuses(['new', 'old'])).toEqual([200, 401])
    return isSignedIn()
  },

  async 'metrics.previous_tokens'() {
    const { ask, reload, isSignedIn } = await started({ metrics: { token: 'new', previous_tokens: ['old', 'kept'] } })
    await reload({ metrics: { token: 'new', previous_tokens: ['kept'] } })
    expect([await ask('/metrics', 'old'), await ask('/metrics', 'kept')]).toEqual([401, 200])
    return isSignedIn()
  },

  async 'backup.passphrase'() {
    const [old, current] = ['the old long text', 'the new long text']
    const { service, reload, isSignedIn } = await started({ backup: { passphrase: old } })
    const { backup } = innerState(service).config
    const before = await buffer(await pack(textBytes('before'), backup))
    await reload({ backup: { passphrase: current, previous_passphrases: [old] } })
    const rotated = innerState(service).config.backup
    const after = await buffer(await pack(textBytes('after'), rotated))
    expect([await read(unpack(again(before), rotated)), await read(unpack(again(after), rotated))]).toEqual([
      'before',
      'after',
    ])
    // None of the former ones encrypts.
    await expect(read(unpack(again(after), { passphrase: old }))).rejects.toThrow('another passphrase')
    await expect(read(unpack(again(before), { passphrase: current }))).rejects.toThrow('another passphrase')
    return isSignedIn()
  },

  async 'backup.previous_passphrases'() {
    const [old, kept] = ['the old long text', 'the kept long text']
    const { service, reload, isSignedIn } = await started({ backup: { previous_passphrases: [old, kept] } })
    const made = await buffer(await pack(textBytes('before'), { passphrase: old }))
    expect(await read(unpack(again(made), innerState(service).config.backup))).toBe('before')
    await reload({ backup: { previous_passphrases: [kept] } })
    const rest = innerState(service).config.backup
    await expect(read(unpack(again(made), rest))).rejects.toThrow('another passphrase')
    return isSignedIn()
  },

  async 'backup.s3.secret_access_key'() {
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const withKey = (key: string) => ({
      backup: { target: 's3://chat/backups', s3: { endpoint, region, access_key_id, secret_access_key: key } },
    })
    const { service, reload, isSignedIn } = await started(withKey('deleted'))
    const list = () => openTarget(innerState(service).config).list('')
    await expect(list()).rejects.toThrow()
    await reload(withKey(secret_access_key))
    expect((await list()).objects).toEqual([])
    return isSignedIn()
  },

  async 'setup.code'() {
    const { service, reload, isSignedIn } = await started({ setup: { code: 'old' } })
    // It opens nothing once the service is set up, with the right code either.
    await reload({ setup: { code: 'new' } })
    expect(await setUp(service.base_url, 'new')).toBe(400)
    const database = await createSqliteFile()
    onTestFinished(() => database.remove())
    const empty = await startService(database.url, { config: { setup: { code: 'old' } } })
    onTestFinished(() => empty.close())
    await empty.chat.reload(parseConfig({ setup: { code: 'new' } }))
    expect([await setUp(empty.base_url, 'old'), await setUp(empty.base_url, 'new')]).toEqual([403, 200])
    return isSignedIn()
  },

  async 'oauth.<provider>.client_secret'() {
    const provider = await startPlain()
    onTestFinished(() => provider.close())
    const withSecret = (client_secret: string) => ({
      server: { public_url: PUBLIC_URL },
      oauth: { plain: { ...provider.plain, client_secret } },
    })
    const { service, reload, isSignedIn } = await started(withSecret('old'))
    const sent = async () => {
      const browser = createBrowser(service.base_url)
      const authUrl = await browser.begin('plain')
      await browser.ask(returnFrom(authUrl), { headers: { accept: 'application/json' } })
      const { form, headers } = provider.asked.findLast(({ path }) => path === '/token')!
      const basic = Buffer.from(String(headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
      return form.client_secret ?? basic.split(':')[1]
    }
    expect(await sent()).toBe('old')
    await reload(withSecret('new'))
    expect(await sent()).toBe('new')
    return isSignedIn()
  },

  async 'mail.smtp.url'() {
    const smtp = await startSmtp({ user: 'chat', password: 'new' })
    onTestFinished(() => smtp.close())
    const withUrl = (url: string) => ({
      mail: { smtp: { url, from: 'chat@example.org' } },
      links: { reset_password: `${PUBLIC_URL}/reset/{token}` },
      server: { public_url: PUBLIC_URL },
    })
    const { service, ada, reload, isSignedIn } = await started(withUrl(smtp.url.replace(':new@', ':old@')))
    await forgot(service.base_url, ada.email)
    await reload(withUrl(smtp.url))
    await forgot(service.base_url, ada.email)
    await vi.waitUntil(() => smtp.mails.length > 0, { timeout: 30_000 })
    // Until the server has answered.
    await service.idle()
    expect(smtp.mails[0]!.user).toBe('chat')
    return isSignedIn()
  },

  async 'outgoing.proxy'() {
    const tunnels: string[] = []
    const proxy = createServer().on('connect', ({ headers }, socket) => {
      tunnels.push(headers['proxy-authorization']!)
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    onTestFinished(() => void proxy.close())
    const { port } = proxy.address() as AddressInfo
    const withPassword = (password: string) => ({ outgoing: { proxy: `http://chat:${password}@127.0.0.1:${port}` } })
    const { service, reload, isSignedIn } = await started(withPassword('old'))
    const call = () => innerState(service).outgoing.call('https://8.8.8.8/', { timeout_ms: 5_000 })
    await expect(call()).rejects.toThrow('connect')
    await reload(withPassword('new'))
    await expect(call()).rejects.toThrow('connect')
    expect(tunnels.map((basic) => Buffer.from(basic.split(' ')[1]!, 'base64').toString())).toEqual([
      'chat:old',
      'chat:new',
    ])
    return isSignedIn()
  },

  async 'security.secret_key'() {
    const [old, next] = ['old', 'new'].map((name) => Buffer.alloc(32, name).toString('base64'))
    const { service, reload, isSignedIn } = await started({ security: { secret_key: old } })
    const ada = await service.signIn('ada')
    const { token } = await ada.tokens.issue({})
    const statusOf = async () =>
      (await fetch(`${service.base_url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status
    const { keyring } = innerState(service)
    const sealed = await keyring.seal('test', 'text', 'here')
    await reload({ security: { secret_key: next, previous_secret_keys: [old] } })
    expect([await statusOf(), await keyring.open('test', sealed, 'here')]).toEqual([200, 'text'])
    await reload({ security: { secret_key: next } })
    expect([await statusOf(), await keyring.open('test', sealed, 'here')]).toEqual([401, undefined])
    return isSignedIn()
  },

  async 'security.previous_secret_keys'() {
    const [current, old] = ['new', 'old'].map((name) => Buffer.alloc(32, name).toString('base64'))
    const { service, reload, isSignedIn } = await started({ security: { secret_key: old } })
    const { keyring } = innerState(service)
    const sealed = await keyring.seal('test', 'text', 'here')
    await reload({ security: { secret_key: current, previous_secret_keys: [old] } })
    expect(await keyring.open('test', sealed, 'here')).toBe('text')
    await reload({ security: { secret_key: current, previous_secret_keys: [] } })
    expect(await keyring.open('test', sealed, 'here')).toBeUndefined()
    return isSignedIn()
  },

  async 'auth.jwt.secret'() {
    const [old, current] = ['an old secret of thirty-two bytes', 'a new secret of thirty-two bytes']
    const withSecret = (secret: string) => ({ auth: { jwt: { issuer: 'shop', audience: 'chat', secret } } })
    const sign = (secret: string) =>
      new SignJWT({ iss: 'shop', aud: 'chat', sub: 'ada' })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime('10m')
        .sign(new TextEncoder().encode(secret))
    const { start, isSignedIn } = await started(withSecret(old))
    const second = await start(withSecret(current))
    const statusOf = async (secret: string) => {
      const headers = { authorization: `Bearer ${await sign(secret)}` }
      return (await fetch(`${second.base_url}/api/auth/me`, { headers })).status
    }
    expect([await statusOf(current), await statusOf(old)]).toEqual([200, 401])
    return isSignedIn(second)
  },

  'assistant.api_key': () => modelServerGets('authorization', (value) => ({ api_key: value }), 'Bearer '),
  'assistant.headers': () => modelServerGets('x-key', (value) => ({ headers: [`X-Key: ${value}`] }), ''),
  'assistants.<assistant>.api_key': () =>
    modelServerGets('authorization', (value) => ({ api_key: value }), 'Bearer ', 'helper'),
  'assistants.<assistant>.headers': () =>
    modelServerGets('x-key', (value) => ({ headers: [`X-Key: ${value}`] }), '', 'helper'),

  async 'tools.<tool>.headers'() {
    const calls: (string | undefined)[] = []
    const server = createServer((request, response) => {
      calls.push(request.headers['x-key'] as string)
      response.end('{"output":null}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const folder = await mkdtemp(join(tmpdir(), 'tools-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const schema_file = join(folder, 'schema.json')
    await writeFile(schema_file, '{"type":"object"}')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const withValue = (value: string) => ({
      assistant: { tools: ['refund'] },
      tools: { refund: { url, description: 'x', schema_file, headers: [`X-Key: ${value}`] } },
    })
    const { start, isSignedIn } = await started(withValue('old'))
    const second = await start(withValue('new'))
    const call = { call_id: 'c', attempt: 1, signal: new AbortController().signal, user: { id: 'u', username: 'ada' } }
    await innerState(second).assistants.fallback!.tools[0]!.run({}, call as unknown as ToolCall)
    expect(calls).toEqual(['new'])
    return isSignedIn(second)
  },

  async AWS_SECRET_ACCESS_KEY() {
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const open = (key: string) =>
      openFileStore(`s3://chat/files?endpoint=${endpoint}&region=${region}`, {
        env: { AWS_ACCESS_KEY_ID: access_key_id, AWS_SECRET_ACCESS_KEY: key },
      })
    const key = '01a20ec6-057b-7fe8-8bb3-eb06d03bd15d/1'
    await open(secret_access_key).put(key, Buffer.from('kept'))
    await expect(open('deleted').get(key)).rejects.toMatchObject({ code: 'unavailable' })
    expect(Buffer.from((await open(secret_access_key).get(key))!).toString()).toBe('kept')
    return (await started()).isSignedIn()
  },

  // Below, on each database.
  secret_key: async () => true,
}

async function* again(bytes: Uint8Array) {
  yield bytes
}

/** Restarts the service with another value: a second node has it, and the first one goes. */
async function modelServerGets(
  name: string,
  keys: (value: string) => object,
  prefix: string,
  assistant?: string,
): Promise<boolean> {
  const model = await startModelServer()
  const withValue = (value: string) => {
    const settings = { provider: 'openai', model: 'test', base_url: model.url, ...keys(value) }
    return assistant ? { assistants: { [assistant]: settings } } : { assistant: settings }
  }
  const { start, isSignedIn } = await started(withValue('old'))
  const second = await start(withValue('new'))
  const ada = await second.signIn('ada')
  const { conversation_id } = await ada.conversations.create()
  await ada.messages
    .postRoot(conversation_id, { content: 'Hello' })
    .then(({ message_id }) =>
      ada.messages.reply(message_id, { content: 'What is it?', role: 'assistant', ...(assistant && { assistant }) }),
    )
  const call = await model.nextCall()
  expect(call.headers[name]).toBe(`${prefix}new`)
  return isSignedIn(second)
}

const page = textOf('docs/guides/secrets.md')
const rows = [...page.matchAll(/^\| `([^`]+)` /gm)].map(([, name]) => name!)

it('the page of secrets has a row for each secret of the configuration, and a trial for each row', () => {
  const secrets = configKeys().flatMap(({ key, secret }) => (secret ? [key] : []))
  // A new secret: describe what it opens and how it is rotated, and try that above.
  expect(rows.sort()).toEqual([...secrets, 'AWS_SECRET_ACCESS_KEY', 'secret_key'].sort())
  expect(Object.keys(TRIALS).sort()).toEqual(rows.sort())
})

for (const [key, rotate] of Object.entries(TRIALS))
  it(`${key} is rotated as the page says, with users signed in`, LONG, async ({ skip }) => {
    if (key === 'database.url' && !isInstalled()) skip('PostgreSQL is not installed')
    expect(await rotate()).toBe(true)
  })

describeOnEachDatabase('the key in the database', (openUrl) => {
  it('is made anew by the next start, ends the links of files only, and no session', LONG, async () => {
    const url = await openUrl()
    const first = await startWithFiles(url)
    const ada = await first.signIn('ada')
    const headers = await signInByHand(first.base_url, ada.email, PASSWORD)
    const { conversation_id } = await ada.conversations.create()
    const id = await upload(ada, await bytesFor(first, ada), conversation_id, { content: PNG })
    const { url: link } = await ada.attachments.link(id)
    const pathOf = (each: string) => each.replace(/^https?:\/\/[^/]+/, '')
    expect((await fetch(first.base_url + pathOf(link))).status).toBe(200)
    await innerState(first).db.run(sql`DELETE FROM meta WHERE name = 'secret_key'`)
    await first.close()
    const second = await startService(url, {
      config: { attachments: { enabled: true, storage: `fs:${first.folder}` } },
    })
    onTestFinished(() => second.close())
    expect((await fetch(second.base_url + pathOf(link))).status).toBe(404)
    expect((await fetch(`${second.base_url}/api/auth/me`, { headers })).status).toBe(200)
    const again = await second.signIn('ada')
    expect((await fetch(second.base_url + pathOf((await again.attachments.link(id)).url))).status).toBe(200)
  })
})

it('a token that guards /metrics is not lost with its key', () => {
  expect(() => parseConfig({ metrics: { previous_tokens: ['old'] } })).toThrow('metrics.token')
})
