import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import type { Caller } from './passes.ts'

/** A service without rate limits, so that no response depends on earlier calls. */
export interface Target {
  url: string
  /** The headers of a caller: of an administrator, with an access of its own each time. */
  headers(as: Caller): Promise<Record<string, string>>
  close(): Promise<void>
}

const CONFIG = {
  features: { well_known: true, openai_api: true, ag_ui: true },
  well_known: { entries: { 'security.txt': 'Contact: mailto:security@example.org\n' } },
  security: { password: { bcrypt_cost: 4 } },
  session: { max_sessions_per_user: 100 },
  rate_limits: {
    admin_api_enabled: true,
    default_rps: 100_000,
    burst: 1_000_000,
    auth_login_per_ip_per_min: 1_000_000,
  },
}

const ADMIN = { email: 'admin@example.org', password: 'correct horse battery' }

/** The duration of a stream from its headers on: schemathesis waits for the end of each response. */
const STREAM_MS = 200

/** Starts a service on an empty database. */
export async function startTarget(database: string): Promise<Target> {
  const chat = createChatService(parseConfig(CONFIG), await openStorage({ database }))
  await chat.start()
  await chat.setup.run(ADMIN)
  const server = createServer(endingStreams(createNodeListener(chat))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async headers(as): Promise<Record<string, string>> {
      if (as === 'nobody') return {}
      const { cookie, csrf_token } = await signIn(url)
      const session = { cookie, 'x-csrf-token': csrf_token }
      return as === 'session' ? session : { authorization: `Bearer ${await makeKey(url, session)}` }
    },
    async close() {
      chat.drain()
      server.close()
      server.closeAllConnections()
      await chat.close()
    },
  }
}

async function signIn(url: string): Promise<{ cookie: string; csrf_token: string }> {
  const response = await post(`${url}/api/auth/login`, ADMIN)
  const cookie = response.headers.getSetCookie().map((each) => each.split(';')[0])
  const { csrf_token } = (await response.json()) as { csrf_token: string }
  return { cookie: cookie.join('; '), csrf_token }
}

async function makeKey(url: string, session: Record<string, string>): Promise<string> {
  const response = await post(`${url}/api/auth/keys`, { name: 'fuzz' }, session)
  return ((await response.json()) as { key: string }).key
}

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

function endingStreams(listener: Listener): Listener {
  return (request, response) => {
    if (request.url?.startsWith('/api/stream')) endSoon(response)
    listener(request, response)
  }
}

function endSoon(response: ServerResponse): void {
  setTimeout(() => {
    if (response.headersSent) response.end()
    else if (!response.destroyed) endSoon(response)
  }, STREAM_MS)
}
