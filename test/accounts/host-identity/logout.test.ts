import { beforeEach, expect, it } from 'vitest'
import { createChatApp } from '../../../lib/http/index.ts'
import { type Identity, type IdentityRequest, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { innerState, startService } from '../../support/service.ts'
import { followResponse, type TestStream } from '../../support/stream.ts'

describeOnEachDatabase('streams and the login of the host', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    return [
      await startService(url, { ports: { identity }, config: { attachments: await filesInFolder() } }),
      await startService(url, { ports: { identity } }),
    ]
  })
  /** The sessions of the host, by token. */
  const sessions = new Map<string, Identity | Error>()
  const seen: IdentityRequest[] = []
  const identity = (request: IdentityRequest) => {
    seen.push(request)
    const found = sessions.get(request.headers.get('authorization') ?? '')
    if (found instanceof Error) throw found
    return found
  }
  beforeEach(() => {
    sessions.clear()
    sessions.set('ada-1', { subject: 'ada' }).set('ada-2', { subject: 'ada' }).set('grace', { subject: 'grace' })
  })

  async function open(authorization: string, { base_url } = service): Promise<TestStream> {
    const abort = new AbortController()
    const response = await fetch(`${base_url}/api/stream`, { headers: { authorization }, signal: abort.signal })
    const stream = followResponse(response, () => abort.abort())
    await stream.until('stream.ready')
    return stream
  }

  const heartbeat = () => innerState(service).streams.hub.recheckLogins()
  const ends = async (stream: TestStream) => (await stream.until('stream.closed')).at(-1)!.event.payload
  const size = () => innerState(service).streams.hub.size()

  it('passes on the request, and on Node what middleware of the host has put there', async () => {
    const { headers, ip, request, node } = await calledBy(() => open('grace').then((stream) => stream.close()))
    expect([new URL(request.url).pathname, request.headers.get('authorization'), ip]).toEqual([
      '/api/stream',
      'grace',
      '127.0.0.1',
    ])
    expect(headers.get('authorization')).toBe('grace')
    expect([node!.req.url, node!.res.req === node!.req]).toEqual(['/api/stream', true])
    const app = createChatApp(service.chat)
    const web = await calledBy(async () => {
      const response = await app.fetch(
        new Request('http://host.example/api/auth/me', { headers: { authorization: 'ada-1' } }),
      )
      expect(response.status).toBe(200)
    })
    expect([web.request.url, web.node]).toEqual(['http://host.example/api/auth/me', undefined])
    const direct = await calledBy(() => service.chat.auth.authenticate(new Headers({ authorization: 'ada-1' })))
    expect(direct.request.headers.get('authorization')).toBe('ada-1')
  })

  async function calledBy(call: () => Promise<unknown>): Promise<IdentityRequest> {
    seen.length = 0
    await call()
    return seen[0]!
  }

  it('sets the cookies of the host with a file, also where fetch is served, and ends links to it with the sign-in', async () => {
    const set_cookie = ['host=1; Path=/', 'other=2; HttpOnly']
    sessions.set('ada-1', { subject: 'ada', set_cookie })
    const app = createChatApp(service.chat)
    const call = (method: string, path: string, body?: string, type = 'application/json') =>
      app.fetch(
        new Request(`http://host.example${path}`, {
          method,
          headers: { authorization: 'ada-1', ...(body && { 'content-type': type }) },
          ...(body && { body }),
        }),
      )
    const { conversation_id } = await (await call('POST', '/api/conversations', '{"title":"Files"}')).json()
    const about = JSON.stringify({ name: 'a', size: 5 })
    const { attachment } = await (await call('POST', `/api/conversations/${conversation_id}/attachments`, about)).json()
    const path = `/api/attachments/${attachment.id}`
    expect((await call('PUT', `${path}/parts/1`, 'hello', 'application/octet-stream')).status).toBe(200)
    const file = await call('GET', `${path}/content`)
    expect([file.headers.getSetCookie(), await file.text()]).toEqual([set_cookie, 'hello'])
    const { url } = await (await call('POST', `${path}/link`, '{}')).json()
    expect(await (await call('GET', url)).text()).toBe('hello')
    await service.chat.sessions.endForSubject('ada')
    expect((await call('GET', url)).status).toBe(404)
  })

  it('sets the cookies of the host with an answer, an error and a stream, and leaves out what is no header', async () => {
    const set_cookie = ['host=1; Path=/', 'other=2; HttpOnly']
    sessions.set('ada-1', { subject: 'ada', set_cookie })
    const authorization = 'ada-1'
    for (const path of ['/api/auth/me', '/api/conversations/unknown', '/api/stream']) {
      const abort = new AbortController()
      const { headers } = await fetch(service.base_url + path, { headers: { authorization }, signal: abort.signal })
      expect([path, headers.getSetCookie()]).toEqual([path, set_cookie])
      abort.abort()
    }
    const app = createChatApp(service.chat)
    const response = await app.fetch(new Request('http://host.example/api/auth/me', { headers: { authorization } }))
    expect(response.headers.getSetCookie()).toEqual(set_cookie)
    for (const bad of ['a=1\r\nX-Evil: 1', `a=${'x'.repeat(5000)}`, 5 as unknown as string]) {
      sessions.set('ada-1', { subject: 'ada', set_cookie: bad })
      const { headers, status } = await fetch(`${service.base_url}/api/auth/me`, { headers: { authorization } })
      expect([status, headers.getSetCookie(), headers.get('x-evil')]).toEqual([200, [], null])
    }
  })

  it('asks once for each subject and heartbeat; a logged-out person loses the streams, also by another subject', async () => {
    const streams = [await open('ada-1'), await open('ada-1'), await open('ada-1')]
    const grace = await open('grace')
    seen.length = 0
    await heartbeat()
    expect(seen.map((each) => each.headers.get('authorization')).sort()).toEqual(['ada-1', 'grace'])
    sessions.delete('ada-1')
    await heartbeat()
    for (const stream of streams) expect(await ends(stream)).toEqual({ reason: 'session_ended' })
    await expect.poll(size).toBe(1)
    sessions.set('grace', { subject: 'eve' })
    await heartbeat()
    expect(await ends(grace)).toEqual({ reason: 'session_ended' })
  })

  it('leaves the streams of another login of the same person open', async () => {
    const first = await open('ada-1')
    const second = await open('ada-2')
    sessions.delete('ada-1')
    await heartbeat()
    await heartbeat()
    expect(await ends(first)).toEqual({ reason: 'session_ended' })
    await expect.poll(size).toBe(1)
    await second.close()
  })

  it('leaves a stream open when the host fails', async () => {
    const stream = await open('grace')
    sessions.set('grace', new Error('The session store is down'))
    await heartbeat()
    await expect.poll(size).toBe(1)
    sessions.delete('grace')
    await heartbeat()
    expect(await ends(stream)).toEqual({ reason: 'session_ended' })
  })

  it('ends the streams of a subject on all nodes, and none that are opened later', async () => {
    const { endForSubject } = service.chat.sessions
    const streams = [await open('ada-1'), await open('ada-2', node)]
    const other = await open('grace')
    await endForSubject('ada')
    for (const stream of streams) expect(await ends(stream)).toEqual({ reason: 'session_ended' })
    const again = await open('ada-1', node)
    await innerState(node).streams.hub.rights.recheckAll()
    await expect.poll(() => [size(), innerState(node).streams.hub.size()]).toEqual([1, 1])
    await endForSubject('unheard of')
    await Promise.all([again.close(), other.close()])
  })

  it('ends a stream that the caller of before opens after the end', async () => {
    const caller = await service.chat.auth.authenticate(new Headers({ authorization: 'ada-1' }))
    await service.chat.sessions.endForSubject('ada')
    const events = []
    for await (const { event } of service.chat.events.followAll(caller)) events.push(event.type)
    expect(events.at(-1)).toBe('stream.closed')
    const actor = await service.chat.users.actorOf('ada')
    for await (const { event } of service.chat.events.followAll(actor)) {
      expect(event.type).toBe('stream.ready')
      break
    }
    await service.chat.users.ensure(OPERATOR, { subject: 'ada' })
  })
})

describeOnEachDatabase('the heartbeat', (openUrl) => {
  it('asks the host by itself', async () => {
    let isIn = true
    const identity = () => (isIn ? { subject: 'ada' } : undefined)
    const service = await startService(await openUrl(), {
      ports: { identity },
      config: { sse: { heartbeat_seconds: 1 } },
    })
    const stream = followResponse(await fetch(`${service.base_url}/api/stream`))
    await stream.until('stream.ready')
    isIn = false
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    await service.close()
  })
})
