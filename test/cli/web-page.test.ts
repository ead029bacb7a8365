import { expect, it } from 'vitest'
import { folder } from './process.ts'
import { type Serving, serve } from './serving.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }

async function read({ url }: Serving, path: string) {
  const response = await fetch(url + path)
  return [response.status, response.headers.get('content-type')]
}

const PAGE = [200, 'text/html; charset=utf-8']
const MISSING = [404, 'application/problem+json']
const ANSWER = [200, 'application/json']

it('serves the web chat at its root, unless a flag or the configuration leaves it out', async () => {
  const [plain, placed, flagged, off, without] = await Promise.all([
    serve({ cwd: folder(), env }),
    serve({ cwd: folder(), env: { ...env, CHAT_SERVER__BASE_PATH: '/chat' } }),
    serve({ cwd: folder(), env }, '--no-web'),
    serve({ cwd: folder(), env: { ...env, CHAT_SERVER__WEB: 'false' } }),
    serve({ cwd: folder(), env: { ...env, CHAT_FEATURES__AUTH_V1: 'false' } }),
  ])
  expect([await read(plain, '/'), await read(plain, '/api/setup')]).toEqual([PAGE, ANSWER])
  expect([await read(plain, '/nothing'), await read(plain, '/index.html')]).toEqual([MISSING, MISSING])
  expect([await read(placed, '/'), await read(placed, '/chat/')]).toEqual([PAGE, PAGE])
  for (const left of [flagged, off, without]) expect(await read(left, '/')).toEqual(MISSING)

  const offered = await Promise.all(
    [plain, flagged].map(async ({ url }) => (await fetch(`${url}/api/features`)).json()),
  )
  expect(offered).toMatchObject([{ web: true }, { web: false }])
  for (const { child, end } of [plain, placed, flagged, off, without]) {
    child.kill('SIGTERM')
    expect((await end).code).toBe(0)
  }
})
