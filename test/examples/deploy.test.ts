import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTOML } from 'confbox/toml'
import { parseYAML } from 'confbox/yaml'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { PART_BYTES } from '../../lib/chat/attachments/schema.ts'
import { createChatClient } from '../../lib/client/index.ts'
import { type ServeProcess, startServe } from '../fault/serving.ts'
import { copyPostgresDatabase, createSqliteFile } from '../support/databases.ts'
import { ROOT } from '../support/example.ts'
import { openStream, type SignedHeaders, signInByHand } from '../support/stream.ts'
import { withResolvers } from '../support/with-resolvers.ts'
import { PROXIES, startProxy } from './proxies.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }
const TRUSTING = { CHAT_SERVER__TRUSTED_PROXIES: '127.0.0.1', CHAT_SSE__HEARTBEAT_SECONDS: '1' }

/** Longer than a balancer needs to notice that a service is stopping. */
const DELAY = { CHAT_SERVER__DRAIN_DELAY_SECONDS: '3' }

/** Not the address of the proxy, which is trusted. */
const CLIENT = '127.0.0.2'

for (const { name, isInstalled } of PROXIES) if (!isInstalled) console.log(`Tests of ${name} skipped: not found`)

describe.each(PROXIES.filter((proxy) => proxy.isInstalled))('the example for $name', (proxy) => {
  it('signs in, passes on events at once, preserves client addresses, and passes on the end of a stream', {
    timeout: 60_000,
  }, async () => {
    const { url, remove } = await createSqliteFile()
    const server = await startStopping(url)
    const base_url = await startProxy(proxy, [server.port])
    const ada = createChatClient({ base_url })
    await ada.setup.run(ADA)
    await ada.auth.login(ADA)
    const params = await ada.conversations.create()

    const headers = await signInByHand(base_url, ADA.email, ADA.password)
    const stream = await openStream(base_url, params.conversation_id, { cookie: headers.cookie })
    expect(stream.response.headers.get('content-encoding')).toBeNull()
    await stream.until('stream.ready')
    await ada.messages.postRoot(params.conversation_id, { content: 'first' })
    await stream.until('message.new')
    // Longer than the proxy's timeout: only heartbeats keep the stream open.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    await ada.messages.postRoot(params.conversation_id, { content: 'second' })
    const seen = await stream.until('message.new')
    expect(seen.map(({ event }) => event.type)).not.toContain('stream.closed')

    // The client's own header is not trusted: the proxy appends the peer's address.
    await failToSignIn(base_url, CLIENT, '6.6.6.6')
    while (!server.log().includes('"login.failed"')) await new Promise((resolve) => setImmediate(resolve))
    expect(server.log()).toMatch(/"login\.failed".*"ip":"127\.0\.0\.2"/)

    for (let i = 0; i < 20; i++)
      expect(await answerToLarge(base_url, headers, i % 2 === 0)).toMatchObject({ code: 'payload_too_large' })

    // A whole part of a file is the largest body that the service accepts.
    const bytes = randomBytes(PART_BYTES)
    const { id } = await ada.upload(params.conversation_id, new File([bytes], 'picture.bin'))
    expect((await contentOf(base_url, id, headers)).equals(bytes)).toBe(true)
    expect(await answerToLargePart(base_url, params.conversation_id, headers)).toBe('payload_too_large')

    const leaving = await openStream(base_url, params.conversation_id, { cookie: headers.cookie })
    await leaving.until('stream.ready')
    await leaving.close()
    while ((await streamsOf(server)) > 1);

    server.signal('SIGTERM')
    const [last] = (await stream.until('stream.closed')).slice(-1)
    expect(last!.event).toMatchObject({ payload: { reason: 'draining' } })
    expect(await stream.next()).toBeUndefined()
    expect(await server.exit).toBe(0)
    await remove()
  })
})

const BALANCERS = PROXIES.filter(({ isInstalled, name }) => isInstalled && name !== 'caddy')

describe.skipIf(!inject('postgres_url')).each(BALANCERS)('two services behind $name', (balancer) => {
  it('look like one to their clients, also while one of them stops', { timeout: 120_000 }, async () => {
    const { url, remove } = await copyPostgresDatabase()
    const env = balancer.name === 'haproxy in compose.yaml' ? environmentOfNode() : DELAY
    const folder = temporaryFolder()
    const start = (name: string) =>
      startStopping(url, { ...env, CHAT_ATTACHMENTS__STORAGE: storageOfNode(name, folder) })
    const [one, two] = [await start('one'), await start('two')]
    const base_url = await startProxy(balancer, [one.port, two.port])
    const ada = createChatClient({ base_url, retry_ms: 50 })
    await ada.setup.run(ADA)
    await ada.auth.login(ADA)
    const params = await ada.conversations.create()

    // The parts of an upload reach both, and each of them returns the whole file.
    const bytes = randomBytes(5 * PART_BYTES + 10)
    const { id } = await ada.upload(params.conversation_id, new File([bytes], 'film.bin'))
    for (const service of [one, two]) expect(await partsAt(service)).toBeGreaterThan(0)
    const headers = await signInByHand(base_url, ADA.email, ADA.password)
    for (const address of [base_url, one.base_url, two.base_url])
      expect((await contentOf(address, id, headers)).equals(bytes)).toBe(true)

    const posted: string[] = []
    const seen: string[] = []
    const abort = new AbortController()
    const opened = withResolvers()
    const reading = (async () => {
      for await (const { event } of ada.events.follow(params.conversation_id, { signal: abort.signal })) {
        if (event.type === 'stream.ready') opened.resolve()
        if (event.type === 'message.new') seen.push(event.payload.message.id)
      }
    })()
    await opened.promise
    const post = async () =>
      posted.push((await ada.messages.postRoot(params.conversation_id, { content: 'hello' })).message_id)
    for (let i = 0; i < 20; i++) await post()
    one.signal('SIGTERM')
    let isOver = false
    void one.exit.then(() => (isOver = true))
    // None of these requests may fail.
    while (!isOver) await post()
    for (let i = 0; i < 20; i++) await post()
    while (seen.length < posted.length) await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual(posted)
    expect(await one.exit).toBe(0)
    abort.abort()
    await reading
    two.signal('SIGTERM')
    expect(await two.exit).toBe(0)
    await remove()
  })
})

const hasAnalyzer = spawnSync('systemd-analyze', ['--version']).error === undefined
if (!hasAnalyzer) console.log('Test of the systemd unit skipped: systemd-analyze not found')

it.skipIf(!hasAnalyzer)('the systemd unit is valid', () => {
  const folder = temporaryFolder()
  const unit = readFileSync(join(ROOT, 'examples', 'deploy', 'chat-server.service'), 'utf8')
  const file = join(folder, 'chat-server.service')
  // systemd-analyze checks that the program exists.
  writeFileSync(file, unit.replace('/usr/local/bin/chat-server', process.execPath))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  expect({ status, complaints: stderr.split('\n').filter((line) => line.includes('chat-server.service')) }).toEqual({
    status: 0,
    complaints: [],
  })
})

it('the image contains the service and its dependencies in the versions of the lockfile', () => {
  const dockerfile = readFileSync(join(ROOT, 'examples', 'deploy', 'Dockerfile'), 'utf8')
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [build, runtime] = dockerfile.split(/^FROM /m).slice(1) as [string, string]
  expect(build).toMatch(/^RUN npm ci && npm prune --omit=dev$/m)
  expect(dockerfile).not.toMatch(/npm (i|install|pack)\b/)

  const copied = [...runtime.matchAll(/^COPY --from=build (.*) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '))
  expect(copied).toEqual(
    expect.arrayContaining(['package.json', 'node_modules', 'dist', 'docs'].map((file) => `/src/${file}`)),
  )
  expect(runtime).toContain(`ln -s /opt/chat-server/${bin['chat-server']} /usr/local/bin/chat-server`)
  // Everything after the last change of the user runs without the rights of root.
  expect(runtime.match(/^USER .*$/gm)).toEqual(['USER node'])
  expect(runtime.indexOf('USER node')).toBeLessThan(runtime.indexOf('ENTRYPOINT'))
})

it('the nodes of compose.yaml differ in their name only, and its balancer knows both', () => {
  const { services } = compose()
  expect(services.one).toEqual(services.two)
  expect(services.one).toMatchObject({ build: { context: '../..', dockerfile: 'examples/deploy/Dockerfile' } })
  const targets = [
    ...readFileSync(join(DEPLOY, 'compose-haproxy.cfg'), 'utf8').matchAll(/^ {2}server \w+ (\w+):8080$/gm),
  ]
  expect(targets.map(([, host]) => host)).toEqual(['one', 'two'])
  const [published] = services.balancer!.ports!
  expect(published).toMatch(/^127\.0\.0\.1:/)
})

it('the nodes of compose.yaml keep files in a volume that belongs to the user of the image', () => {
  const { services, volumes } = compose()
  const [[volume, target] = []] = services.one!.volumes!.map((each) => each.split(':'))
  expect(Object.keys(volumes)).toContain(volume)
  expect(services.one!.environment.CHAT_ATTACHMENTS__STORAGE).toBe(`fs:${target}/files`)
  expect(readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')).toContain(`install -d -o node -g node -m 700 ${target}\n`)
})

it('the pods of kubernetes.yaml keep files in one volume, and its ingress permits a whole part of a file', () => {
  const documents = readFileSync(join(DEPLOY, 'kubernetes.yaml'), 'utf8').split(/^---$/m)
  const [settings, claim, deployment, , ingress] = documents.map((text) => parseYAML<Manifest>(text))
  const { template } = deployment!.spec!
  const { storage } = parseTOML<Settings>(settings!.data!['chat-server.toml']!).attachments
  const mount = template!.spec.containers[0]!.volumeMounts.find(({ mountPath }) =>
    storage.startsWith(`fs:${mountPath}/`),
  )
  const volume = template!.spec.volumes.find(({ name }) => name === mount!.name)
  expect(volume!.persistentVolumeClaim!.claimName).toBe(claim!.metadata.name)
  expect(claim!.spec!.accessModes).toEqual(['ReadWriteMany'])
  const permitted = ingress!.metadata.annotations!['nginx.ingress.kubernetes.io/proxy-body-size']
  expect(permitted).toMatch(/^\dm$/)
  expect(Number.parseInt(permitted!, 10) * 2 ** 20).toBeGreaterThan(PART_BYTES)
})

const DEPLOY = join(ROOT, 'examples', 'deploy')

interface Compose {
  services: Record<
    string,
    { environment: Record<string, string>; build?: object; ports?: string[]; volumes?: string[] }
  >
  volumes: Record<string, unknown>
}

/** What a test reads of the objects in kubernetes.yaml. */
interface Manifest {
  metadata: { name: string; annotations?: Record<string, string> }
  data?: Record<string, string>
  spec?: {
    accessModes?: string[]
    template?: {
      spec: {
        containers: { volumeMounts: { name: string; mountPath: string }[] }[]
        volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[]
      }
    }
  }
}

interface Settings {
  attachments: { storage: string }
}

function compose(): Compose {
  return parseYAML<Compose>(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'))
}

/** The settings of a node in compose.yaml, except for what only exists there: the addresses of the database and the network, and folders. */
function environmentOfNode(): Record<string, string> {
  const { CHAT_DATABASE__URL, CHAT_SERVER__TRUSTED_PROXIES, CHAT_ATTACHMENTS__STORAGE, ...rest } =
    compose().services.one!.environment
  expect([CHAT_DATABASE__URL, CHAT_SERVER__TRUSTED_PROXIES, CHAT_ATTACHMENTS__STORAGE]).not.toContain(undefined)
  return rest
}

/** Where a node of compose.yaml keeps files: each volume is a folder below this one, and so is the rest of each container. */
function storageOfNode(name: string, folder: string): string {
  const { environment, volumes = [] } = compose().services[name]!
  // The default, in the working directory of the image.
  const { CHAT_ATTACHMENTS__STORAGE = 'fs:/data/data/files' } = environment
  const path = CHAT_ATTACHMENTS__STORAGE.replace('fs:', '')
  const [volume = name] =
    volumes.map((each) => each.split(':')).find(([, target]) => path.startsWith(`${target}/`)) ?? []
  return `fs:${join(folder, volume, path)}`
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-deploy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function startStopping(url: string, env: Record<string, string> = {}): Promise<ServeProcess> {
  const server = await startServe(url, { env: { ...TRUSTING, ...env } })
  onTestFinished(() => server.signal('SIGKILL'))
  return server
}

/** Signs in from an address, with another one in the header. */
async function failToSignIn(base_url: string, localAddress: string, forwarded: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwarded }
  const options = { method: 'POST', localAddress, headers }
  const asked = request(`${base_url}/api/auth/login`, options).end(
    JSON.stringify({ ...ADA, password: 'wrong password' }),
  )
  const [response] = await once(asked, 'response')
  expect(response.resume().statusCode).toBe(401)
}

/** The response of the service to a body that is too large, with or without a length. */
async function answerToLarge(base_url: string, asked: Record<string, string>, chunked: boolean): Promise<unknown> {
  const text = JSON.stringify({ title: 'x'.repeat(1_500_000) })
  const body = chunked ? new Blob([text]).stream() : text
  const headers = { ...asked, 'content-type': 'application/json' }
  // The types of Node's fetch lack `duplex`, which a stream needs.
  const options = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  return (await fetch(`${base_url}/api/conversations`, options)).json()
}

/** The error of the service for a part that is a byte too long. */
async function answerToLargePart(base_url: string, conversation_id: string, asked: SignedHeaders): Promise<string> {
  const begun = await fetch(`${base_url}/api/conversations/${conversation_id}/attachments`, {
    method: 'POST',
    headers: { ...asked, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'picture.bin', size: PART_BYTES }),
  })
  const { attachment } = (await begun.json()) as { attachment: { id: string } }
  const response = await fetch(`${base_url}/api/attachments/${attachment.id}/parts/1`, {
    method: 'PUT',
    headers: { ...asked, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(PART_BYTES + 1),
  })
  return ((await response.json()) as { code: string }).code
}

/** The bytes of a file, as a service returns them. */
async function contentOf(base_url: string, id: string, headers: SignedHeaders): Promise<Buffer> {
  const response = await fetch(`${base_url}/api/attachments/${id}/content`, { headers })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

/** How many parts of files a service has stored. */
async function partsAt({ base_url }: ServeProcess): Promise<number> {
  const page = await (await fetch(`${base_url}/metrics`)).text()
  const counts = page.matchAll(
    /^chat_http_requests_total\{method="PUT",route="[^"]*\/parts\/\{n\}",status="2\d\d"\} (\d+)$/gm,
  )
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

async function streamsOf({ base_url }: ServeProcess): Promise<number> {
  const page = await (await fetch(`${base_url}/metrics`)).text()
  return Number(/^chat_streams_open (\d+)$/m.exec(page)![1])
}
