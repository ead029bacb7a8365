import { routes } from '../../lib/endpoints.ts'
import { openStorage } from '../../lib/index.ts'
import { statement } from '../../lib/storage/sql.ts'
import { type RunOptions, run } from '../cli/process.ts'
import { type Serving, serve } from '../cli/serving.ts'
import { type ModelServer, refuses, startModelServer, streams } from '../support/model-server.ts'
import { openStream } from '../support/stream.ts'

/** An output that could contain a secret, and its place. */
export interface Readable {
  where: string
  text: string
}

/** All outputs of a walk, and the secrets issued on it. */
export interface Walked {
  said: Readable[]
  /** Of every sign-in. */
  sessions: string[]
  csrf_tokens: string[]
  /** Of every invite. */
  invites: string[]
  /** Of browsers that are known again. */
  devices: string[]
  keys: string[]
  /** Of links that set a new password. */
  resets: string[]
}

/** The planted secrets: no output may contain any of them. */
export const PLANTED = {
  password: 'canary-password-1',
  new_password: 'canary-password-2',
  newcomer_password: 'canary-password-3',
  metrics_token: 'canary-metrics-token',
  api_key: 'canary-api-key',
  header: 'canary-header',
  database_password: 'canary-database-password',
  client_secret: 'canary-client-secret',
  provider_code: 'canary-provider-code',
}

type Session = { cookie: string; 'x-csrf-token': string }

/** A walk through the commands and the API of a real process, which records every output. */
class Walk implements Walked {
  readonly said: Readable[] = []
  readonly sessions: string[] = []
  readonly csrf_tokens: string[] = []
  readonly invites: string[] = []
  readonly devices: string[] = []
  readonly keys: string[] = []
  readonly resets: string[] = []
  readonly #options: RunOptions
  #server!: Serving
  #model!: ModelServer

  constructor(options: RunOptions) {
    this.#options = options
  }

  async serve(): Promise<void> {
    this.#model = await startModelServer()
    Object.assign(this.#options.env!, { CHAT_ASSISTANT__BASE_URL: this.#model.url })
    this.#server = await serve(this.#options)
  }

  async stop(): Promise<void> {
    this.#server.child.kill('SIGTERM')
    const { stdout, stderr } = await this.#server.end
    this.said.push({ where: 'stdout of serve', text: stdout })
    this.said.push({ where: 'stderr of serve', text: stderr })
  }

  async command(line: string, input = ''): Promise<string> {
    const { stdout, stderr } = await run(line.split(' '), { ...this.#options, input })
    this.said.push({ where: `stdout of ${line}`, text: stdout }, { where: `stderr of ${line}`, text: stderr })
    return stdout
  }

  /** @param name the name of the call in the table of secrets: method and route */
  async call(name: string, path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(this.#server.url + path, { ...init, method: name.split(' ')[0]! })
    const text = await response.clone().text()
    this.said.push({ where: name, text })
    this.said.push({ where: `headers of ${name}`, text: JSON.stringify([...response.headers]) })
    return response
  }

  send(name: string, path: string, body: unknown, headers: Partial<Session> = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.call(name, path, { headers: { 'content-type': 'application/json', ...headers }, body: text })
  }

  async signedIn(answer: Response, csrf_token: string): Promise<Session> {
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0]!)
    const token = cookies.find((cookie) => cookie.startsWith('SESSION_ID='))!.slice('SESSION_ID='.length)
    this.sessions.push(token)
    this.csrf_tokens.push(csrf_token)
    const device = cookies.find((cookie) => cookie.startsWith('SESSION_ID-DEVICE='))
    if (device) this.devices.push(device.slice('SESSION_ID-DEVICE='.length))
    return { cookie: cookies.join('; '), 'x-csrf-token': csrf_token }
  }

  async login(email: string, password: string): Promise<Session> {
    const answer = await this.send('POST /api/auth/login', '/api/auth/login', { email, password })
    return this.signedIn(answer, ((await answer.json()) as { csrf_token: string }).csrf_token)
  }

  /** Makes the assistant answer once, and fail once with an error that repeats its request. */
  async ask(conversation_id: string, session: Session): Promise<void> {
    const { api_key, header } = PLANTED
    this.#model.will(streams('Well.'), refuses(401, { error: { message: `${api_key} ${header} is no key` } }))
    const stream = await openStream(this.#server.url, conversation_id, { cookie: session.cookie })
    for (const end of ['message.done', 'message.failed']) {
      const question = { content: 'question', role: 'assistant' }
      await this.send('POST /api/threads/{}/root', `/api/threads/${conversation_id}/root`, question, session)
      this.said.push({ where: 'stream', text: JSON.stringify(await stream.until(end)) })
    }
    await stream.close()
  }
}

/**
 * Walks through all endpoints and commands, with every secret in its place and in wrong ones, and reads every table.
 */
export async function walk(options: RunOptions, database: string): Promise<Walked> {
  const it = new Walk(options)
  await it.command('setup --email ada@example.org', PLANTED.password)
  await it.serve()
  const ada = await it.login('ada@example.org', PLANTED.password)
  const conversation_id = await administer(it, ada)
  await it.ask(conversation_id, ada)
  await invite(it, conversation_id, ada)
  await useKey(it, ada)
  await resetPassword(it)
  await signInElsewhere(it)
  await misplace(it, ada)
  await readAll(it, ada)
  await useCommands(it, conversation_id)
  await it.stop()
  it.said.push(...(await dump(database)))
  return it
}

async function administer(it: Walk, ada: Session): Promise<string> {
  const { password, new_password } = PLANTED
  const grace = { username: 'grace', email: 'grace@example.org', password }
  const created = await it.send('POST /api/admin/users', '/api/admin/users', grace, ada)
  const { user } = (await created.json()) as { user: { id: string } }
  const path = `/api/admin/users/${user.id}`
  await it.send('PATCH /api/admin/users/{}', path, { password: new_password }, ada)
  const hers = await it.login('grace@example.org', new_password)
  const refreshed = await it.call('POST /api/auth/refresh', '/api/auth/refresh', { headers: hers })
  const renewed = await it.signedIn(refreshed, ((await refreshed.clone().json()) as { csrf_token: string }).csrf_token)
  await it.call('POST /api/auth/logout', '/api/auth/logout', { headers: renewed })
  await it.login('grace@example.org', new_password)
  const opened = await it.send('POST /api/conversations', '/api/conversations', {}, ada)
  return ((await opened.json()) as { conversation_id: string }).conversation_id
}

async function invite(it: Walk, conversation_id: string, ada: Session): Promise<void> {
  const path = `/api/conversations/${conversation_id}`
  for (const body of [{}, { email: 'noa@example.org' }]) {
    const created = await it.send('POST /api/conversations/{}/invites', `${path}/invites`, body, ada)
    it.invites.push(((await created.json()) as { token: string }).token)
  }
  const added = await it.send(
    'POST /api/conversations/{}/participants',
    `${path}/participants`,
    { email: 'li@example.org' },
    ada,
  )
  it.invites.push(((await added.json()) as { invite: { token: string } }).invite.token)
  const [open, , third] = it.invites
  const newcomer = { username: 'noa', email: 'noa@example.org', password: PLANTED.newcomer_password }
  await it.send('POST /api/invites/accept', '/api/invites/accept', { token: open, ...newcomer, email: 5 })
  const accepted = await it.send('POST /api/invites/accept', '/api/invites/accept', { token: open, ...newcomer })
  const csrf = accepted.headers.getSetCookie().find((line) => line.startsWith('CSRF-TOKEN='))!
  await it.signedIn(accepted, csrf.slice('CSRF-TOKEN='.length).split(';')[0]!)
  await it.send('POST /api/invites/accept', '/api/invites/accept', { token: open, ...newcomer, username: 'late' })
  await it.call('POST /api/invites/{}/revoke', `/api/invites/${third}/revoke`, { headers: { cookie: ada.cookie } })
  await it.call('POST /api/invites/{}/revoke', `/api/invites/${third}/revoke`, { headers: ada })
  await it.call('GET /api/conversations/{}/invites', `${path}/invites`, { headers: ada })
}

async function useKey(it: Walk, ada: Session): Promise<void> {
  const made = await it.send('POST /api/auth/keys', '/api/auth/keys', { name: 'a script' }, ada)
  const { key } = (await made.json()) as { key: string }
  it.keys.push(key)
  await it.call('GET /api/conversations', '/api/conversations', { headers: { authorization: `Bearer ${key}` } })
  await it.call('GET /api/auth/keys', '/api/auth/keys', { headers: ada })
}

async function resetPassword(it: Walk): Promise<void> {
  const link = JSON.parse(await it.command('user reset-link --email grace@example.org --json')) as { token: string }
  it.resets.push(link.token)
  await it.send('POST /api/auth/forgot', '/api/auth/forgot', { email: 'ada@example.org' })
  const body = { token: link.token, password: PLANTED.new_password }
  await it.send('POST /api/auth/reset', '/api/auth/reset', body)
  await it.send('POST /api/auth/reset', '/api/auth/reset', body)
}

/** With an unreachable provider. */
async function signInElsewhere(it: Walk): Promise<void> {
  await it.call('GET /api/oauth/{}', '/api/oauth/provider_a')
  const code = PLANTED.provider_code
  await it.send('POST /api/oauth/{}/manual', '/api/oauth/provider_a/manual', { auth_code: code })
  await it.call('GET /api/oauth/{}/callback', `/api/oauth/provider_a/callback?code=${code}&state=made-up`)
}

/** Secrets in wrong places: refused, and not repeated. */
async function misplace(it: Walk, ada: Session): Promise<void> {
  const { password, metrics_token } = PLANTED
  const login = (body: unknown, headers = {}) => it.send('POST /api/auth/login', '/api/auth/login', body, headers)
  await login({ email: 'ada@example.org', password: `${password}x` })
  await login({ email: password, password })
  await login({ email: 5, password: [password] })
  await login(`{"email":"ada@example.org","password":"${password}`)
  await login({ email: 'ada@example.org', password }, { 'content-type': 'text/plain' })
  await it.send('POST /api/setup', '/api/setup', { email: 'late@example.org', password })
  await it.send('POST /api/conversations', '/api/conversations', {}, { ...ada, 'x-csrf-token': it.csrf_tokens[1]! })
  const given = [...it.sessions, ...it.csrf_tokens, ...it.invites, ...it.devices, ...it.keys, ...it.resets]
  for (const secret of [...given, ...Object.values(PLANTED)]) {
    await it.call('GET /api/nothing', `/api/${secret}?token=${secret}`)
    await it.call('GET /api/auth/me', '/api/auth/me', { headers: { cookie: `SESSION_ID=${secret}; CSRF-TOKEN=x` } })
    await it.call('GET /api/messages/{}', `/api/messages/${secret}`, { headers: ada })
    await it.call('GET /metrics', '/metrics', { headers: { authorization: `Bearer ${secret}` } })
    await it.call('GET /api/auth/me', '/api/auth/me', { headers: { authorization: `Bearer x${secret}` } })
  }
  await it.call('GET /metrics', '/metrics', { headers: { authorization: `Basic ${metrics_token}` } })
}

/** Every page without parameters. */
async function readAll(it: Walk, ada: Session): Promise<void> {
  const plain = Object.values(routes).filter(({ method, path, answer }) => {
    return method === 'GET' && !path.includes('{') && answer !== 'stream'
  })
  for (const path of [...plain.map((route) => route.path), '/openapi.json', '/openapi.yaml']) {
    const authorization = path === '/metrics' ? `Bearer ${PLANTED.metrics_token}` : ''
    await it.call(`GET ${path}`, path, { headers: { ...ada, ...(authorization && { authorization }) } })
  }
}

async function useCommands(it: Walk, conversation_id: string): Promise<void> {
  const created = await it.command(`invite create --conversation ${conversation_id} --json`)
  it.invites.push((JSON.parse(created) as { token: string }).token)
  await it.command('user set-password --user grace', PLANTED.new_password)
  await it.command('user set-password --user nobody', PLANTED.new_password)
  for (const line of ['user list', 'session list', 'audit list', `invite list --conversation ${conversation_id}`])
    await it.command(`${line} --json`)
  for (const line of ['config print', 'config check', 'user disable --user grace', 'session revoke --all'])
    await it.command(line)
  await it.command(`migrate --database postgres://chat:${PLANTED.database_password}@127.0.0.1:1/chat`)
}

/** Every row of every table. */
async function dump(database: string): Promise<Readable[]> {
  const storage = await openStorage({ database })
  try {
    const { db } = storage
    const tables = await db.all<{ name: string }>(
      statement(
        db.dialect === 'sqlite'
          ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
          : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
      ),
    )
    return await Promise.all(
      tables.map(async ({ name }) => ({
        where: `table ${name}`,
        text: JSON.stringify(await db.all(statement(`SELECT * FROM ${name}`))),
      })),
    )
  } finally {
    await storage.close()
  }
}
