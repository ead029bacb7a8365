import { describe, expect, it } from 'vitest'
import { createChatApp } from '../../lib/http/app.ts'
import { parseConfig } from '../../lib/index.ts'
import { checkedFetch, readFailure } from '../support/answers.ts'
import { setUpService } from '../support/describe-service.ts'
import { startService } from '../support/service.ts'

const SECURITY = 'Contact: mailto:security@example.org\nExpires: 2027-01-01T00:00:00Z\n'
const entries = {
  'security.txt': SECURITY,
  'matrix/client': '{"m.homeserver": {}}',
  'list.json': '[]',
  'notes.json.txt': '{ no JSON',
  'apple-app-site-association': { content_type: 'application/pkcs7-mime', body: 'ünïcödé' },
  empty: '',
}

describe('a well-known document', () => {
  const service = setUpService(() =>
    startService('sqlite::memory:', {
      config: { well_known: { entries } },
    }),
  )

  const read = (path: string, init?: RequestInit) => checkedFetch(`${service.base_url}${path}`, init)

  it.each([
    ['security.txt', 'text/plain; charset=utf-8', SECURITY],
    ['matrix/client', 'application/json', '{"m.homeserver": {}}'],
    ['list.json', 'application/json', '[]'],
    ['notes.json.txt', 'text/plain; charset=utf-8', '{ no JSON'],
    ['apple-app-site-association', 'application/pkcs7-mime', 'ünïcödé'],
    ['empty', 'text/plain; charset=utf-8', ''],
  ])('is served as it is configured: %s', async (path, type, body) => {
    const response = await read(`/.well-known/${path}`)
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, type, body])
    expect(await service.client().wellKnown.get(path)).toBe(body)
    const head = await read(`/.well-known/${path}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, type, ''])
  })

  it('exists under exactly its path, with any query', async () => {
    expect((await read('/.well-known/security.txt?x=1')).status).toBe(200)
    // `fetch` sends it without the dots.
    expect((await read('/.well-known/matrix/../security.txt')).status).toBe(200)
  })

  it.each([
    '',
    '/nothing',
    '/SECURITY.TXT',
    '/security.tx',
    '/security.txt/more',
    '/matrix',
    '/matrix%2Fclient',
    '/%00',
    '/%zz',
    '/__proto__',
    '/constructor',
    '/..%2fhealthz',
  ])('does not exist under another path: %j', async (path) => {
    const response = await read(`/.well-known${path}`)
    expect([response.status, (await readFailure(response)).code]).toEqual([404, 'not_found'])
  })

  it.each(['/', '/security.txt/', '//security.txt', '/matrix/', '/matrix//client', '/s%65curity.txt'])(
    'does not exist under another spelling of its path: %j',
    async (path) => {
      const response = await read(`/.well-known${path}`)
      expect([response.status, (await readFailure(response)).code]).toEqual([400, 'bad_request'])
    },
  )

  it('can only be read', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await read('/.well-known/security.txt', { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
  })

  it('is below the base path of the service', async () => {
    const { H3 } = await import('h3')
    const host = new H3().mount('/chat', createChatApp(service.chat) as InstanceType<typeof H3>)
    const ask = async (path: string) => (await host.fetch(new Request(`http://host.example${path}`))).status
    expect(await ask('/chat/.well-known/matrix/client')).toBe(200)
    expect(await ask('/chat/.well-known/matrix/client/')).toBe(400)
    expect(await ask('/.well-known/matrix/client')).toBe(404)
  })

  it('is a function of the service, too', () => {
    expect(service.chat.wellKnown.get('security.txt')).toEqual({
      path: 'security.txt',
      content_type: 'text/plain; charset=utf-8',
      body: SECURITY,
    })
  })
})

it('does not exist unless the feature is enabled', async () => {
  expect(parseConfig({}).features.well_known).toBe(false)
  const service = await startService('sqlite::memory:', { config: { features: { well_known: false } } })
  const response = await checkedFetch(`${service.base_url}/.well-known/security.txt`)
  expect([response.status, (await readFailure(response)).code]).toEqual([404, 'not_found'])
  await service.close()
})
