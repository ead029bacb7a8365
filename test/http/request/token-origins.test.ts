import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { setUpService } from '../../support/describe-service.ts'
import { PASSWORD, startService } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

const PAGE = 'https://shop.example.org'
const OTHER = 'https://evil.example'

const service = setUpService(() =>
  startService('sqlite::memory:', { config: { server: { cors: { token_origins: [PAGE] } } } }),
)
let session: Record<string, string>
let [token, ticket, key] = ['', '', '']
beforeAll(async () => {
  const ada = await service.signIn('ada')
  token = (await ada.tokens.issue({})).token
  ticket = (await ada.tokens.issue({ scopes: ['stream'] })).token
  key = (await ada.keys.create({ name: 'widget' })).key
  session = await signInByHand(service.base_url, ada.email, PASSWORD)
})

const create = (origin: string, headers: Record<string, string>, base_url = service.base_url) =>
  fetch(`${base_url}/api/conversations`, {
    method: 'POST',
    headers: { origin, 'sec-fetch-site': 'cross-site', 'content-type': 'application/json', ...headers },
    body: '{}',
  })
const corsOf = ({ headers }: Response) => [
  headers.get('access-control-allow-origin'),
  headers.get('access-control-allow-credentials'),
]

it('a page of a listed origin calls with a token or a key, and reads the response, without credentials', async () => {
  for (const bearer of [token, key]) {
    const response = await create(PAGE, { authorization: `Bearer ${bearer}`, ...session })
    expect([response.status, ...corsOf(response)]).toEqual([201, PAGE, null])
    expect(response.headers.get('vary')).toBe('Origin')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  }
  const refused = await create(PAGE, { authorization: 'Bearer ct_x.y', ...session })
  expect([refused.status, ...corsOf(refused)]).toEqual([401, PAGE, null])
})

it('its cookies do not count, and a response to them is not for the page', async () => {
  const response = await create(PAGE, session)
  expect([response.status, ...corsOf(response)]).toEqual([403, null, null])
  const read = await fetch(`${service.base_url}/api/auth/me`, { headers: { origin: PAGE, ...session } })
  expect(corsOf(read)).toEqual([null, null])
})

it('a page signs no visitor in, whatever token it sends', async () => {
  const response = await fetch(`${service.base_url}/api/auth/login`, {
    method: 'POST',
    headers: {
      ...{ origin: PAGE, 'sec-fetch-site': 'cross-site', authorization: `Bearer ${token}` },
      'content-type': 'application/json',
    },
    body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
  })
  expect([response.status, response.headers.getSetCookie()]).toEqual([403, []])
})

it('a page of another origin is refused with a token, too', async () => {
  for (const origin of [OTHER, 'null', `${PAGE}.evil.example`, `${PAGE}:8443`]) {
    const response = await create(origin, { authorization: `Bearer ${token}` })
    expect([response.status, ...corsOf(response)]).toEqual([403, null, null])
  }
})

it('a ticket opens a stream for the page', async () => {
  const open = (origin: string, search: string) =>
    fetch(`${service.base_url}/api/stream${search}`, {
      headers: { origin, 'sec-fetch-site': 'cross-site', ...(search ? {} : session) },
    })
  const response = await open(PAGE, `?ticket=${ticket}`)
  expect([response.status, ...corsOf(response)]).toEqual([200, PAGE, null])
  await response.body?.cancel()
  expect((await open(OTHER, `?ticket=${ticket}`)).status).toBe(403)
  expect((await open(PAGE, '')).status).toBe(403)
})

it('a preflight is answered if a token follows', async () => {
  const ask = async (origin: string, headers: string) => {
    const response = await fetch(`${service.base_url}/api/conversations`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
    })
    return [...corsOf(response), response.headers.get('access-control-allow-methods')]
  }
  expect(await ask(PAGE, 'authorization,content-type')).toEqual([PAGE, null, 'POST, GET'])
  expect(await ask(PAGE, 'content-type')).toEqual([null, null, null])
  expect(await ask(OTHER, 'authorization')).toEqual([null, null, null])
})

it('* lists all origins, and none of a service whose host may have read the cookies', async () => {
  const config = { server: { cors: { token_origins: ['*'] } } }
  const open = await startService('sqlite::memory:', { config })
  const hosted = await startService('sqlite::memory:', { config, ports: { identity: () => ({ subject: '1' }) } })
  onTestFinished(async () => void (await Promise.all([open.close(), hosted.close()])))
  const { key } = await (await open.signIn('ada')).keys.create({ name: 'widget' })
  const response = await create(OTHER, { authorization: `Bearer ${key}` }, open.base_url)
  expect([response.status, ...corsOf(response)]).toEqual([201, OTHER, null])
  expect((await create(OTHER, { authorization: 'Bearer x' }, hosted.base_url)).status).toBe(403)
  const { token } = await hosted.client().tokens.issue({})
  expect((await create(OTHER, { authorization: `Bearer ${token}` }, hosted.base_url)).status).toBe(201)
})
