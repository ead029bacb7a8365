import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStream } from './stream.ts'

/** A running application with the chat under `/chat`, in which ada and grace can sign in. */
export interface Host {
  url: string
  /** Signs a person in, if not by `POST /login`. */
  login?: (person: Person) => Promise<Response>
  /** Signs a person out, if not by `POST /logout`. */
  logout?: (cookie: string) => Promise<Response>
  /** The address with which the chat has recorded the acceptance of the only invite. */
  addressOfAcceptance(): Promise<string | undefined>
  /** What it has printed of warnings and errors. */
  complaints(): string[]
  close(): Promise<void>
}

/** A person of the examples. */
export interface Person {
  username: string
  password: string
}

const ADA = { username: 'ada', password: 'correct horse' }
const GRACE = { username: 'grace', password: 'battery staple' }

/** Walks through the chat of an application as its users do. */
export function walkHost(start: () => Promise<Host>): void {
  let host: Host
  /** The cookies of ada and grace. */
  let ada: string
  let grace: string
  let conversation_id: string

  beforeAll(async () => {
    host = await start()
    ada = await signIn(ADA)
    grace = await signIn(GRACE)
    const created = await call('POST', '/chat/api/conversations', ada, { title: 'Engines' })
    expect(created.status).toBe(201)
    conversation_id = (await created.json()).conversation_id
  }, 600_000)
  afterAll(() => host?.close())

  function call(method: string, path: string, cookie: string, body?: unknown, headers = {}): Promise<Response> {
    const type = body !== undefined && { 'content-type': 'application/json' }
    return fetch(host.url + path, {
      method,
      headers: { cookie, ...type, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  async function signIn(person: typeof ADA): Promise<string> {
    const { login } = host
    const answer = await (login ? login(person) : call('POST', '/login', '', person))
    expect(answer.ok).toBe(true)
    return answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
  }

  const signOut = (cookie: string) => (host.logout ? host.logout(cookie) : call('POST', '/logout', cookie, {}))

  const post = (content: string) => call('POST', `/chat/api/threads/${conversation_id}/root`, ada, { content })
  const open = (cookie: string, last_event_id?: string) =>
    openStream(`${host.url}/chat`, conversation_id, { cookie, ...(last_event_id !== undefined && { last_event_id }) })

  it('knows the person who is signed in, and no other', async () => {
    for (const cookie of ['', ada.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))]) {
      const answer = await call('GET', '/chat/api/auth/me', cookie)
      expect([answer.status, (await answer.json()).code]).toEqual([401, 'unauthenticated'])
    }
    const [first, second] = await Promise.all([ada, grace].map((cookie) => call('GET', '/chat/api/auth/me', cookie)))
    const names = [(await first!.json()).user, (await second!.json()).user]
    expect(names.map(({ display_name, username }) => display_name ?? username)).toEqual(['ada', 'grace'])
  })

  it('posts, sees it live, and resumes', async () => {
    const live = await open(ada)
    await live.until('stream.ready')
    expect((await post('first')).status).toBe(201)
    const { id } = (await live.until('message.new')).at(-1)!
    await live.close()
    expect((await post('second')).status).toBe(201)
    const again = await open(ada, id)
    const seen = await again.until('message.new')
    expect(seen.at(-1)!.event).toMatchObject({ payload: { message: { content: 'second' } } })
    expect(seen[0]!.event).toMatchObject({ type: 'stream.ready' })
    await again.close()
  })

  it('reads bodies of any kind behind what the application has in front', async () => {
    const path = `/chat/api/conversations/${conversation_id}`
    expect((await call('PATCH', path, ada, { title: 'Motors' })).status).toBe(200)
    expect((await (await call('GET', path, ada)).json()).title).toBe('Motors')
    const type = { 'content-type': 'text/plain' }
    const other = await fetch(host.url + path, { method: 'PATCH', headers: { cookie: ada, ...type }, body: 'x' })
    expect([other.status, (await other.json()).code]).toEqual([415, 'unsupported_media_type'])
    const left = await call('DELETE', path, ada)
    expect([left.status, await left.text()]).toEqual([204, ''])
    const made = await call('POST', '/chat/api/conversations', ada, {})
    conversation_id = (await made.json()).conversation_id
  })

  it('gives whole answers to a client that takes compressed ones', async () => {
    for (let i = 0; i < 3; i++) expect((await post('x'.repeat(2000))).status).toBe(201)
    const path = `/chat/api/conversations/${conversation_id}/threads`
    const { status, headers, body } = await askRaw(`${host.url}${path}`, { cookie: ada, 'accept-encoding': 'gzip' })
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body).toString() : body.toString()
    expect([status, JSON.parse(text).threads.length]).toEqual([200, 3])
  })

  it('serves the chat below its path alone', async () => {
    expect(await (await call('GET', '/chat/healthz', '')).json()).toEqual({ status: 'ok' })
    const outside = await call('GET', '/chatter/healthz', '')
    expect(await outside.text()).not.toContain('"ok"')
  })

  it('knows the address of the caller', async () => {
    const made = await call('POST', `/chat/api/conversations/${conversation_id}/invites`, ada, {})
    const { token } = await made.json()
    expect((await call('POST', '/chat/api/invites/accept', grace, { token })).status).toBe(200)
    expect(await host.addressOfAcceptance()).toBe('127.0.0.1')
  })

  it('ends the streams of a person who signs out', async () => {
    const stream = await open(ada)
    await stream.until('stream.ready')
    expect((await signOut(ada)).ok).toBe(true)
    expect((await stream.until('stream.closed')).at(-1)!.event).toMatchObject({ payload: { reason: 'session_ended' } })
    expect(await stream.next()).toBeUndefined()
    // Those of others stay.
    const other = await open(grace)
    await other.until('stream.ready')
    await other.close()
  })

  it('refuses a wrong password', async () => {
    if (!host.login) expect((await call('POST', '/login', '', { ...ADA, password: 'wrong' })).status).toBe(401)
  })

  it('has printed nothing', () => {
    // On a busy machine the service reports slow requests.
    expect(host.complaints().filter((line) => !line.startsWith('request'))).toEqual([])
  })
}

/** A response as it is sent: `fetch` decompresses. */
async function askRaw(url: string, headers: Record<string, string>) {
  const request = httpRequest(url, { headers }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks = await response.toArray()
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}
