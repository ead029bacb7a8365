import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { type BrowserContext, hasBrowser, openLaxBrowser, type Page } from '../support/browser.ts'
import { innerState } from '../support/service.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }
const EVE = { username: 'eve', email: 'eve@example.org', password: 'correct horse battery' }

/** Required for Secure cookies; browsers treat loopback as secure. */
const ANYWHERE = { cookie: { same_site: 'none', secure: true } }

// Real pages in a real browser. On loopback `localhost` and `127.0.0.1` are two sites, and ports make separate origins.
describe.skipIf(!hasBrowser)('a page of another site', () => {
  const places: [name: string, host: string, security: object][] = [
    ['on another site, while cookies go everywhere', '127.0.0.1', ANYWHERE],
    ['on another site', '127.0.0.1', {}],
    ['on another port, which gets every cookie', 'localhost', {}],
  ]

  it.each(places)(
    '%s, changes nothing, reads nothing and creates no session',
    async (_, host, security) => {
      const foreign = await servePage(host)
      const service = await serve({ security })
      const { page, context } = await signedIn(service)
      const before = await stateOf(service.chat, context)
      service.answered.length = 0

      await page.goto(foreign)
      const seen = await page.evaluate(`(${attack})(${JSON.stringify({ ...service, chat: undefined, ...EVE })})`)

      expect(seen).toEqual({ read: [], opened: false })
      expect(await stateOf(service.chat, context)).toEqual(before)
      const changing = service.answered.filter(({ method }) => method !== 'GET' && method !== 'OPTIONS')
      // The requests arrived: the service refused them.
      expect(changing.length).toBeGreaterThanOrEqual(8)
      expect(changing.filter(({ status }) => status < 400)).toEqual([])
      expect(changing.some(({ signed }) => signed)).toBe(host === 'localhost' || security === ANYWHERE)
      const streams = service.answered.filter(({ path }) => path.startsWith('/api/stream'))
      expect(streams.length).toBeGreaterThan(0)
      expect(streams.filter(({ status }) => status < 400)).toEqual([])
      await page.goto(service.url)
      expect(await page.evaluate(`fetch('/api/auth/me').then((response) => response.status)`)).toBe(200)
    },
    120_000,
  )

  it.each(places.filter(([, host, security]) => host === 'localhost' || security === ANYWHERE))(
    '%s, works once it is listed: it signs in, posts and follows',
    async (_, host, security) => {
      const foreign = await servePage(host)
      const service = await serve({ security, server: { cors: { allowed_origins: [new URL(foreign).origin] } } })
      const page = await (await openLaxBrowser()).newPage()
      await page.goto(foreign)
      expect(await page.evaluate(`(${work})(${JSON.stringify({ ...service, chat: undefined, ...ADA })})`)).toEqual({
        statuses: [200, 200, 201, 201],
        events: ['stream.ready', 'message.new'],
        request_id: true,
        session: 401,
      })
    },
    120_000,
  )
})

/**
 * All attempts of a page on behalf of its visitor. It runs in the browser, so it has no access to this file's scope.
 */
async function attack({ url, conversation_id, email, password }: Record<string, string>) {
  const doc = document
  const read: string[] = []
  const credentials = 'include' as const
  const login = JSON.stringify({ email, password })
  const calls: [path: string, body: string | undefined][] = [
    ['/api/auth/login', login],
    ['/api/auth/logout', undefined],
    ['/api/auth/refresh', undefined],
    ['/api/conversations', '{}'],
    [`/api/threads/${conversation_id}/root`, '{"content":"I am Ada"}'],
  ]
  for (const [path, body] of calls) {
    const init = { method: 'POST', credentials, ...(body && { body }) }
    await fetch(url + path, { ...init, mode: 'no-cors' }).then(
      async (response) => void ((await response.text()) && read.push(`no-cors ${path}`)),
      () => {},
    )
    await fetch(url + path, init).then(
      () => read.push(`cors ${path}`),
      () => {},
    )
    const headers = { 'content-type': 'application/json', 'x-csrf-token': 'guess' }
    await fetch(url + path, { ...init, headers }).then(
      () => read.push(`json ${path}`),
      () => {},
    )
    const frame = doc.createElement('iframe')
    frame.name = `frame-${doc.querySelectorAll('iframe').length}`
    const form = doc.createElement('form')
    Object.assign(form, { action: url + path, method: 'post', enctype: 'text/plain', target: frame.name })
    const field = doc.createElement('input')
    Object.assign(field, { name: login.slice(0, -1), value: '"}' })
    form.append(field)
    doc.body.append(frame, form)
    form.submit()
    await new Promise((resolve) => Object.assign(frame, { onload: resolve, onerror: resolve }))
  }
  for (const path of ['/api/auth/me', '/healthz', '/openapi.json']) {
    await fetch(url + path, { credentials }).then(
      () => read.push(`get ${path}`),
      () => {},
    )
    for (const tag of ['img', 'script', 'iframe'] as const) {
      const element = doc.createElement(tag)
      element.src = url + path
      const loaded = new Promise<boolean>((resolve) => {
        element.onload = () => resolve(true)
        element.onerror = () => resolve(false)
      })
      doc.body.append(element)
      if ((await loaded) && tag !== 'iframe') read.push(`${tag} ${path}`)
      if (tag === 'iframe' && (element as HTMLIFrameElement).contentDocument) read.push(`iframe ${path}`)
    }
  }
  let opened = false
  for (const path of ['/api/stream', `/api/stream/conversations/${conversation_id}`]) {
    const source = new EventSource(url + path, { withCredentials: true })
    await new Promise<void>((resolve) => {
      source.onopen = () => {
        opened = true
        resolve()
      }
      source.onerror = () => resolve()
    })
    source.close()
  }
  return { read, opened }
}

/** The calls of a listed page. It runs in the browser. */
async function work({ url, conversation_id, email, password }: Record<string, string>) {
  let token = ''
  const call = (method: string, path: string, body?: object) =>
    fetch(url + path, {
      method,
      credentials: 'include',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'once',
        ...(token && { 'x-csrf-token': token }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  const signIn = await call('POST', '/api/auth/login', { email, password })
  token = ((await signIn.json()) as { csrf_token: string }).csrf_token
  const me = await call('GET', '/api/auth/me')
  const events: string[] = []
  const source = new EventSource(`${url}/api/stream/conversations/${conversation_id}`, { withCredentials: true })
  const next = (type: string) =>
    new Promise<void>((resolve) => source.addEventListener(type, () => resolve(void events.push(type)), { once: true }))
  await next('stream.ready')
  const created = await call('POST', '/api/conversations', {})
  const arrived = next('message.new')
  const posted = await call('POST', `/api/threads/${conversation_id}/root`, { content: 'Hello from elsewhere.' })
  await arrived
  source.close()
  await call('POST', '/api/auth/logout')
  return {
    statuses: [signIn.status, me.status, created.status, posted.status],
    events,
    request_id: posted.headers.has('x-request-id'),
    session: (await call('GET', '/api/auth/me')).status,
  }
}

interface Served {
  chat: Chat
  url: string
  conversation_id: string
  answered: { method: string; path: string; signed: boolean; status: number }[]
}

/** The service at `localhost`, next to its own page; Ada has a conversation there, and Eve an account. */
async function serve(config: object): Promise<Served> {
  const parsed = parseConfig({ ...config, security: { password: { bcrypt_cost: 4 }, ...(config as Config).security } })
  const chat = createChatService(parsed, await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const { user } = await chat.setup.run(ADA)
  const ada = await chat.users.actor(user.id)
  await chat.users.create(ada, EVE)
  const { conversation_id } = await chat.conversations.create(ada)
  const answered: Served['answered'] = []
  const handle = createNodeListener(chat)
  const port = await listen('localhost', (request, response) => {
    if (request.url === '/') return void response.setHeader('content-type', 'text/html').end('<title>Ours</title>')
    const { method = '', url: path = '', headers } = request
    const signed = headers.cookie?.includes('SESSION_ID=') ?? false
    response.once('close', () => answered.push({ method, path, signed, status: response.statusCode }))
    handle(request, response)
  })
  onTestFinished(() => chat.close())
  return { chat, url: `http://localhost:${port}`, conversation_id, answered }
}

interface Config {
  security?: object
}

/** @returns the address of an empty page */
async function servePage(host: string): Promise<string> {
  const port = await listen(host, (_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Theirs</title><body></body>')
  })
  return `http://${host}:${port}/`
}

async function listen(host: string, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Ada, who signed in on the service's own page. */
async function signedIn({ url }: Served): Promise<{ page: Page; context: BrowserContext }> {
  const context = await openLaxBrowser()
  const page = await context.newPage()
  await page.goto(url)
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(ADA) }
  expect(await page.evaluate(`fetch('/api/auth/login', ${JSON.stringify(init)}).then(({ status }) => status)`)).toBe(
    200,
  )
  return { page, context }
}

/** Everything an attack could change: the cookies, and every row but the time a session was last used. */
async function stateOf(chat: Chat, browser: BrowserContext): Promise<object> {
  const { db } = innerState(chat)
  const cookies = (await browser.cookies()).map(({ name, value }) => `${name}=${value}`).sort()
  expect(cookies).toHaveLength(3)
  const tables = ['users', 'conversations', 'messages', 'events', 'audit_log', 'invites']
  const counts = await Promise.all(tables.map((table) => db.get(statement(`SELECT count(*) AS rows FROM ${table}`))))
  return { cookies, counts, sessions: await db.all(sql`SELECT token_hash, csrf_hash FROM sessions`) }
}
